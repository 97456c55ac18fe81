import { defineEntity, p } from '@mikro-orm/core';
import { impersonal, personal } from '#core/platform/database/personal.ts';
import type { StoredTexts } from './document.ts';

const retention = { isRetained: true } as const;

/** A text that was shown to buyers. Stored once; a trigger prevents changes. */
export const AcceptanceText = defineEntity({
  name: 'AcceptanceText',
  tableName: 'acceptance_text',
  properties: {
    /** SHA-256 of the text in all its languages, or of its URL if it is hosted elsewhere; base64url. */
    digest: impersonal(p.text().primary()),
    page: impersonal(p.text()),
    /** URL of a text that is hosted elsewhere. Its content is not stored. */
    address: impersonal(p.text().nullable()),
    texts: impersonal(p.json<StoredTexts>().nullable()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** When the text was last shown, to within minutes. */
    shownAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
  checks: [{ name: 'acceptance_text_check', expression: '(address is null) <> (texts is null)' }],
});

/**
 * A text that a buyer accepted with an order. Like a receipt, the row has no relation to the account and the order, stays when their
 * personal data is removed, and never changes.
 */
export const Acceptance = defineEntity({
  name: 'Acceptance',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    orderId: p.uuid(),
    /** Code of the order. */
    code: personal(p.text(), retention),
    page: personal(p.text(), retention),
    digest: personal(p.text(), retention),
    version: personal(p.text().nullable(), retention),
    /** Language of the shown text. */
    language: personal(p.text(), retention),
    acceptedAt: personal(p.datetime().defaultRaw('clock_timestamp()'), retention),
  },
  indexes: [{ name: 'acceptance_account', properties: ['accountId', 'acceptedAt'] }],
  uniques: [{ name: 'acceptance_order_id_digest_unique', properties: ['orderId', 'digest'] }],
});
