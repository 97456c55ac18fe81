import { AccountError } from '#core/business/accounts/account-error.ts';
import {
  defineAction,
  type InputOf,
  note,
  type SubjectKind,
  text,
  time,
} from '#core/business/operator-actions/action-kind.ts';
import {
  describeDayCount,
  describeAsIs,
  describeQuoted,
  describeSince,
  describeUntil,
  omitMember,
} from '#core/business/operator-actions/member-describers.ts';
import { recordAction } from '#core/business/operator-actions/operator-actions.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { integer, object } from '#core/platform/schema.ts';
import { approveOutage, declineOutage, findOutage } from './credit.ts';
import { findAffectedAccounts, grantForOutage, hasGrant, parseOutage } from './grant.ts';

const outageSubject: SubjectKind = { name: 'outage' }; // for all affected accounts together; each account also gets a record of its own

/** Returns the input of an unknown outage unchanged, so that the rejected attempt is recorded too. */
async function addOutageDetails<Input extends { readonly outage: string }>(
  { database }: Host,
  input: Input,
): Promise<Input> {
  try {
    const { model, from, until: end } = await findOutage(database, input.outage);
    return { ...input, model, since: from.toISOString(), until: end.toISOString() };
  } catch (error) {
    if (error instanceof AccountError) return input;
    throw error;
  }
}

const outageMembers = { outage: omitMember, model: describeAsIs, since: describeSince, until: describeUntil };

const grantInput = object(['since', 'until', 'days', 'label', 'note'], {
  since: time,
  until: time,
  model: text('Only accounts that requested this model during the span.'),
  days: integer({ minimum: 1, maximum: 30 }, 'Days to add to each account.'),
  label: text('Name of these days, as customers see it.', 60),
  note,
});

export type GrantInput = InputOf<typeof grantInput>;

export const grantAction = defineAction({
  name: 'outage.grant_days',
  subject: outageSubject,
  summary: 'grant days to all accounts that had paid time during a span, or used a model then; once per note',
  input: grantInput,
  tells: {
    days: describeDayCount,
    model: describeAsIs,
    since: describeSince,
    until: describeUntil,
    label: describeQuoted,
  },
  async perform(host, _id, { since: start, until: end, model, days, label, note: reason }, operator) {
    const failed: { account: string; message: string }[] = [];
    let [granted, skipped] = [0, 0];
    const grant = { days, label, note: reason };
    const outage = await parseOutage(host, { since: start, until: end, model });
    for (const { id } of await findAffectedAccounts(host.database, outage)) {
      const action = { operator, action: 'account.add_days', subject: id, details: grant } as const;
      try {
        const isNew =
          !(await hasGrant(host, id, reason)) &&
          (await recordAction(host.database, action, () => grantForOutage(host, id, grant)));
        if (isNew) granted++;
        else skipped++;
      } catch (error) {
        if (!(error instanceof AccountError)) throw error;
        failed.push({ account: id, message: error.message });
      }
    }
    return { granted, skipped, failed };
  },
});

export const creditAction = defineAction({
  name: 'outage.credit',
  subject: outageSubject,
  summary:
    'credit the time of an outage to all affected accounts, once; after the first approval, confirmed outages are credited automatically',
  input: object(['outage'], { outage: text('Id of the outage.', 36) }),
  tells: outageMembers,
  resolve: addOutageDetails,
  perform: async (host, _id, { outage }) => ({ ...(await approveOutage(host, outage)) }),
});

export const declineAction = defineAction({
  name: 'outage.decline',
  subject: outageSubject,
  summary: 'decline to credit an outage; refused once an account has been credited',
  isDanger: true,
  input: object(['outage', 'note'], { outage: text('Id of the outage.', 36), note }),
  tells: outageMembers,
  resolve: addOutageDetails,
  perform: ({ database }, _id, { outage }) => declineOutage(database, outage),
});
