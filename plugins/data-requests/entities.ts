import { defineEntity, p } from '@mikro-orm/core';
import { personal } from '#core/platform/database/personal.ts';

/** A request about personal data, and its answer. When the account is deleted, kind and times are kept as proof. */
export const DataRequestRow = defineEntity({
  name: 'DataRequestRow',
  tableName: 'data_request',
  properties: {
    id: p.uuid().primary(),
    kind: p.enum(['access', 'correction', 'limiting', 'deletion', 'other'] as const),
    channel: p.enum(['page', 'mail', 'chat', 'other'] as const),
    /** Null if the person has no account. */
    accountId: p.uuid().nullable().index('data_request_account'),
    /** Contact details if the person has no account. */
    person: personal(p.text().nullable()),
    text: personal(p.text().nullable()),
    receivedAt: p.datetime(),
    dueAt: p.datetime(),
    answeredAt: p.datetime().nullable(),
    outcome: p.enum(['done', 'rejected'] as const).nullable(),
    answer: personal(p.text().nullable()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
  },
  indexes: [{ name: 'data_request_open', properties: 'dueAt', where: 'answered_at is null' }],
  checks: [
    { name: 'data_request_answered', expression: '(answered_at is null) = (outcome is null)' },
    { name: 'data_request_due', expression: 'received_at < due_at' },
  ],
});
