import { defineEntity, p } from '@mikro-orm/core';
import { impersonal, personal } from '#core/platform/database/personal.ts';
import type { StoredTexts } from './document.ts';

const retention = { isRetained: true } as const;

/** A text that was shown to buyers. It is stored once, and a trigger prevents changes. */
export const AcceptanceText = defineEntity({
  name: 'AcceptanceText',
  tableName: 'acceptance_text',
  properties: {
    /** SHA-256 of the text in all its languages, or of the URL of an external text; base64url. */
    digest: impersonal(p.text().primary()),
    page: impersonal(p.text()),
    /** URL of an external text, whose content is not stored. */
    address: impersonal(p.text().nullable()),
    texts: impersonal(p.json<StoredTexts>().nullable()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** When the text was last shown, accurate to about ten minutes. */
    shownAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
  checks: [{ name: 'acceptance_text_check', expression: '(address is null) <> (texts is null)' }],
});

/**
 * A buyer's acceptance of a text with an order. Like a receipt, the row has no foreign key to the account or the order, outlives their
 * personal data, and never changes.
 */
export const Acceptance = defineEntity({
  name: 'Acceptance',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    orderId: p.uuid(),
    code: personal(p.text(), retention),
    page: personal(p.text(), retention),
    digest: personal(p.text(), retention),
    version: personal(p.text().nullable(), retention),
    language: personal(p.text(), retention),
    acceptedAt: personal(p.datetime().defaultRaw('clock_timestamp()'), retention),
  },
  indexes: [{ name: 'acceptance_account', properties: ['accountId', 'acceptedAt'] }],
  uniques: [{ name: 'acceptance_order_id_digest_unique', properties: ['orderId', 'digest'] }],
});
