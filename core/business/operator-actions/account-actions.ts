import { AccountError } from '../accounts/account-error.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { AccountRecord } from '../accounts/account-record.ts';
import { defineAction, note, text, time } from './action-kind.ts';
import { recordAction } from './operator-actions.ts';
import { accountSubject, outageSubject } from './subjects.ts';
import { days as tellDays, itself, quoted, receiver, signIn as tellSignIn, since, until, untold } from './telling.ts';
import { integer, object } from '#core/platform/schema.ts';

/*
 * Actions on accounts. What is done is loaded when it is: MikroORM would slow all commands down.
 */

const recovery = () => import('../accounts/recovery.ts');
const blocking = () => import('../accounts/blocking.ts');

const signIn = text('Name of the provider, such as google.', 60);
/** Without what separates or encloses the addresses of a mail. */
const emailAddress = '^[^@\\s<>,;"]+@[^@\\s<>,;"]+$';

async function findOther(host: Host, to: string): Promise<AccountRecord> {
  const { findAccountByHandle } = await import('../accounts/account-list.ts');
  return findAccountByHandle(host, to);
}

/** Says in the record what was down and when. One that does not exist is refused by `perform`, on record. */
async function nameOutage<Input extends { readonly outage: string }>({ database }: Host, input: Input): Promise<Input> {
  const { findOutage } = await import('../outages/credit.ts');
  try {
    const { model, from, until: end } = await findOutage(database, input.outage);
    return { ...input, model, since: from.toISOString(), until: end.toISOString() };
  } catch (error) {
    if (error instanceof AccountError) return input;
    throw error;
  }
}

const tellOutage = { outage: untold, model: itself, since, until };

export const accountActions = [
  defineAction({
    name: 'account.block',
    subject: accountSubject,
    summary: 'refuse an account, end its sessions and prevent its sign-in',
    input: object(['note'], { note }),
    isDanger: true,
    sparesOperators: true,
    async perform({ database }, id, input) {
      await (await blocking()).blockAccount(database, id, input.note);
    },
  }),
  defineAction({
    name: 'account.unblock',
    subject: accountSubject,
    summary: 'serve a blocked account again, with the same key',
    input: object({}),
    async perform({ database }, id) {
      await (await blocking()).unblockAccount(database, id);
    },
  }),
  defineAction({
    name: 'account.add_days',
    subject: accountSubject,
    summary: 'add days to an account, or take days back from the end with a negative number',
    input: object(['days', 'note'], {
      days: integer({ minimum: -365, maximum: 365 }, 'Days to add; negative ones are taken.'),
      label: text('What customers read as the name of added days; default: their number.', 60),
      note,
    }),
    tells: { days: tellDays, label: quoted },
    async perform({ database }, id, { days, label, note: why }) {
      const { grantDays, revokeDays } = await import('../accounts/ledger.ts');
      if (days > 0) await grantDays(database, id, { days, label, note: why });
      else if (days < 0) await database.fork().transactional((transaction) => revokeDays(transaction, id, -days, why));
    },
  }),
  defineAction({
    name: 'account.note',
    subject: accountSubject,
    summary: 'write a note about an account, which only operators see',
    input: object(['note'], { note }),
    // The record of the action is the note.
    perform: () => Promise.resolve(),
  }),
  defineAction({
    name: 'account.change_email',
    subject: accountSubject,
    summary: 'give an account another e-mail address; the former one gets a mail',
    input: object(['to', 'note'], { to: { ...text('The new address.', 320), pattern: emailAddress }, note }),
    sparesOperators: true,
    tells: { to: receiver },
    async perform(host, id, { to }) {
      await (await recovery()).changeEmail(host, id, to);
    },
  }),
  defineAction({
    name: 'account.remove_sign_in',
    subject: accountSubject,
    summary: 'remove a sign-in from an account, also the last one, and end its sessions',
    input: object(['sign_in', 'note'], { sign_in: signIn, note }),
    isDanger: true,
    sparesOperators: true,
    tells: { sign_in: tellSignIn },
    async perform(host, id, { sign_in: provider }) {
      await (await recovery()).removeSignIn(host, id, provider);
    },
  }),
  defineAction({
    name: 'account.move_sign_in',
    subject: accountSubject,
    summary: 'move a sign-in to another account, and end the sessions of both',
    input: object(['sign_in', 'to', 'note'], { sign_in: signIn, to: text('The other account.'), note }),
    isDanger: true,
    sparesOperators: true,
    tells: { sign_in: tellSignIn, to: receiver },
    async resolve(host, input) {
      const other = await findOther(host, input.to).catch((error: unknown) => {
        // `perform` says so, on record.
        if (error instanceof AccountError) return undefined;
        throw error;
      });
      return other === undefined ? input : { ...input, to: other.id };
    },
    async perform(host, id, input) {
      await (await recovery()).moveSignIn(host, id, input.sign_in, (await findOther(host, input.to)).id);
    },
  }),
  defineAction({
    name: 'account.delete',
    subject: accountSubject,
    summary: 'remove what is personal of an account, for good',
    input: object(['confirm'], {
      confirm: text('The e-mail address of the account, or its id, to show that it is meant.', 320),
      note,
    }),
    unrecorded: ['confirm'],
    isDanger: true,
    sparesOperators: true,
    async perform(host, id, { confirm }) {
      const { findAccount } = await import('../accounts/accounts.ts');
      const { email } = await findAccount(host.database, id);
      if (confirm !== id && confirm.toLowerCase() !== email?.toLowerCase())
        throw new AccountError(
          'not_confirmed',
          `"${confirm}" is neither the e-mail address nor the id of the account.`,
        );
      const open = await host.database.query<{ code: string }>(
        `select code from plan_order where account_id = ? and state in ('created', 'pending') order by created_at`,
        [id],
      );
      if (open.length > 0)
        throw new AccountError(
          'order_open',
          `Order ${open.map(({ code }) => code).join(', ')} can still be paid. Cancel it, or delete the account when it has expired.`,
        );
      const { deleteAccount } = await import('../accounts/deletion.ts');
      await deleteAccount(host.database, id);
    },
  }),
  defineAction({
    name: 'outage.grant_days',
    subject: outageSubject,
    summary: 'grant days to all accounts that had paid time in a span, or used a model in it; once for a note',
    input: object(['since', 'until', 'days', 'label', 'note'], {
      since: time,
      until: time,
      model: text('Only accounts that requested this model in the span.'),
      days: integer({ minimum: 1, maximum: 30 }, 'Days to add to each.'),
      label: text('What customers read as the name of these days.', 60),
      note,
    }),
    tells: { days: tellDays, model: itself, since, until, label: quoted },
    async perform(host, _id, { since: start, until: end, model, days, label, note: why }, operator) {
      const { findAffected, grantForOutage, hasGrant, readOutage } = await import('../accounts/outage-grant.ts');
      const failed: { account: string; message: string }[] = [];
      let [granted, skipped] = [0, 0];
      const grant = { days, label, note: why };
      const outage = await readOutage(host, { since: start, until: end, model });
      for (const { id } of await findAffected(host.database, outage)) {
        const action = { operator, action: 'account.add_days', subject: id, words: grant } as const;
        try {
          const isNew =
            !(await hasGrant(host, id, why)) &&
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
  }),
  defineAction({
    name: 'outage.credit',
    subject: outageSubject,
    summary:
      'give the time of an outage back to all whom it has hit, once; after the first one, this is done without being asked',
    input: object(['outage'], { outage: text('Id of the outage.', 36) }),
    tells: tellOutage,
    resolve: nameOutage,
    async perform(host, _id, { outage }) {
      const { approveOutage } = await import('../outages/credit.ts');
      return { ...(await approveOutage(host, outage)) };
    },
  }),
  defineAction({
    name: 'outage.decline',
    subject: outageSubject,
    summary: 'give the time of an outage back to nobody; refused once somebody has it',
    input: object(['outage', 'note'], { outage: text('Id of the outage.', 36), note }),
    tells: tellOutage,
    resolve: nameOutage,
    async perform({ database }, _id, { outage }) {
      const { declineOutage } = await import('../outages/credit.ts');
      await declineOutage(database, outage);
    },
  }),
] as const;
