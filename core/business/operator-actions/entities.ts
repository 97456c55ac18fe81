import { defineEntity, p } from '@mikro-orm/core';
import { impersonal, personal } from '#core/platform/database/personal.ts';

// The note on a deletion is kept, because it gives the reason.
const ofAccount = `subject = ? and (action <> 'account.delete' or error is not null)`;

/** What an operator did on a page, with a command or over the API, or what owners did with their own account. */
export const OperatorActionRow = defineEntity({
  name: 'OperatorActionRow',
  tableName: 'operator_action',
  properties: {
    id: p.uuid().primary(),
    /** Account id. Not a foreign key, because an action outlives the account. */
    operatorId: p.uuid(),
    /** The operator's email address at that time; or `command (USER)`, `api (TOKEN)` or `owner`. */
    operator: impersonal(p.text()),
    action: impersonal(p.text()),
    /** Id of the account or order, or name of the route. */
    subject: impersonal(p.text()),
    /** The operator's input: plain text if it is only a note, otherwise JSON. */
    note: personal(p.text().nullable(), { isHidden: true, ofAccount }),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** Null while the action runs, or if its process died before it finished. */
    finishedAt: p.datetime().nullable(),
    error: personal(p.text().nullable(), { isHidden: true, ofAccount, replacement: 'removed with the account' }),
  },
  indexes: [
    { name: 'operator_action_subject', properties: ['subject', 'createdAt'] },
    {
      name: 'operator_action_created',
      expression: 'create index operator_action_created on operator_action (created_at desc)',
    },
  ],
});
