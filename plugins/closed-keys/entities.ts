import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** An API key that its vendor has closed. The row is deleted once the vendor accepts the key again. */
export const ClosedKeyRow = defineEntity({
  name: 'ClosedKeyRow',
  tableName: 'closed_key',
  properties: {
    id: p.uuid().primary(),
    /** Digest of the key together with its host; the same on all instances. */
    digest: impersonal(p.text()),
    /** The upstream whose request was rejected. */
    upstream: impersonal(p.text()),
    vendor: impersonal(p.text()),
    part: p.enum(['key', 'account'] as const),
    /** The vendor's message, without secrets. */
    words: impersonal(p.text()),
    /** The vendor's page that documents such messages. */
    source: impersonal(p.text()),
    closedAt: p.datetime(),
    retryAt: p.datetime(),
    refusals: p.integer().default(1),
  },
  uniques: [{ name: 'closed_key_once', properties: ['digest'] }],
});
