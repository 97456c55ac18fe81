import { defineEntity, p } from '@mikro-orm/core';
import { impersonal, personal } from '#core/platform/database/personal.ts';

/** SQL condition for texts about an account, which may name its owner. The note of a deletion outlives the account as its reason. */
const ofAccount = `subject = ? and (action <> 'account.delete' or error is not null)`;

/** An operator's action on a page, by a command or over the API, or an owner's action on their own account. */
export const OperatorActionRow = defineEntity({
  name: 'OperatorActionRow',
  tableName: 'operator_action',
  properties: {
    id: p.uuid().primary(),
    /** Id of an account; without a foreign key, because an action outlives it. */
    operatorId: p.uuid(),
    /** E-mail address at the time; `command (USER)`, `api (TOKEN)` or `owner`. */
    operator: impersonal(p.text()),
    action: impersonal(p.text()),
    /** Id of the account or order, or the name of the route. */
    subject: impersonal(p.text()),
    /** The operator's input: a lone note as text, anything else as JSON. */
    note: personal(p.text().nullable(), { isHidden: true, ofAccount }),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** Null while it runs, or if its process died meanwhile. */
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
