import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

export const OperatorToken = defineEntity({
  name: 'OperatorToken',
  tableName: 'operator_token',
  properties: {
    id: p.uuid().primary(),
    name: impersonal(p.text().unique()),
    sha256: impersonal(p.blob().unique().check('length(sha256) = 32')),
    scope: p.enum(['read', 'act'] as const),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    expiresAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
  },
});

/** A call with an idempotency key, and its response. */
export const OperatorCall = defineEntity({
  name: 'OperatorCall',
  tableName: 'operator_call',
  properties: {
    token: () => p.manyToOne(OperatorToken).primary().deleteRule('cascade'),
    key: impersonal(p.text().primary()),
    /** SHA-256 of method, path and body. */
    sha256: impersonal(p.blob()),
    /** Status of the response; null while the call is running, or if its process ended before it did. */
    status: p.integer().nullable(),
    answer: impersonal(p.text().nullable()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()').index('operator_call_created'),
  },
});
