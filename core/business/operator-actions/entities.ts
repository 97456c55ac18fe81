import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** What an operator has done on the operator pages. */
export const OperatorActionRow = defineEntity({
  name: 'OperatorActionRow',
  tableName: 'operator_action',
  properties: {
    id: p.uuid().primary(),
    /** An account; without a foreign key, because an action outlives it. */
    operatorId: p.uuid(),
    /** E-mail address at the time. */
    operator: impersonal(p.text()),
    action: impersonal(p.text()),
    /** Id of the account or order, or the route. */
    subject: impersonal(p.text()),
    note: impersonal(p.text().nullable()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** Null: running, or the process died meanwhile. */
    finishedAt: p.datetime().nullable(),
    error: impersonal(p.text().nullable()),
  },
  indexes: [
    { name: 'operator_action_subject', properties: ['subject', 'createdAt'] },
    {
      name: 'operator_action_created',
      expression: 'create index operator_action_created on operator_action (created_at desc)',
    },
  ],
});
