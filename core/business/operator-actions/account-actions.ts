import { integer, object } from '#core/platform/schema.ts';
import { AccountError } from '../accounts/account-error.ts';
import { findAccountByHandle } from '../accounts/account-list.ts';
import { findAccount } from '../accounts/accounts.ts';
import { blockAccount, endPause, unblockAccount } from '../accounts/blocking.ts';
import { deleteAccount } from '../accounts/deletion.ts';
import { grantDays, revokeDays } from '../accounts/ledger.ts';
import { changeEmail, moveSignIn, removeSignIn } from '../accounts/recovery.ts';
import { defineAction, note, text } from './action-kind.ts';
import { describeDayCount, describeQuoted, describeRecipient, describeSignIn } from './member-describers.ts';
import { accountSubject } from './subjects.ts';

const signIn = text('Name of the provider, such as google.', 60);
const emailPattern = '^[^@\\s<>,;"]+@[^@\\s<>,;"]+$'; // no characters that separate or enclose addresses in an email

export const accountActions = [
  defineAction({
    name: 'account.block',
    subject: accountSubject,
    summary: 'block an account: its key stops working, its sessions end, and it cannot sign in',
    input: object(['note'], { note }),
    isDanger: true,
    sparesOperators: true,
    async perform({ database }, id, input) {
      await blockAccount(database, id, input.note);
    },
  }),
  defineAction({
    name: 'account.unblock',
    subject: accountSubject,
    summary: 'unblock an account; its key stays the same',
    input: object({}),
    async perform({ database }, id) {
      await unblockAccount(database, id);
    },
  }),
  defineAction({
    name: 'account.resume',
    subject: accountSubject,
    summary: 'end the pause of an account at its owner’s request',
    input: object(['note'], { note }),
    perform: ({ database }, id) => endPause(database, id),
  }),
  defineAction({
    name: 'account.add_days',
    subject: accountSubject,
    summary: 'add days to an account; a negative number takes days off the end',
    input: object(['days', 'note'], {
      days: integer({ minimum: -365, maximum: 365 }, 'Days to add; a negative number takes days back.'),
      label: text('Name of the added days, as shown to customers; default: their number.', 60),
      note,
    }),
    tells: { days: describeDayCount, label: describeQuoted },
    async perform({ database }, id, { days, label, note: reason }) {
      if (days > 0) await grantDays(database, id, { days, label, note: reason });
      if (days < 0) await database.fork().transactional((transaction) => revokeDays(transaction, id, -days, reason));
    },
  }),
  defineAction({
    name: 'account.note',
    subject: accountSubject,
    summary: 'add a note about an account, which only operators see',
    input: object(['note'], { note }),
    // Nothing to do: the record of the action is the note.
    perform: () => Promise.resolve(),
  }),
  defineAction({
    name: 'account.change_email',
    subject: accountSubject,
    summary: 'change the e-mail address of an account and notify the old address',
    input: object(['to', 'note'], {
      to: { ...text('The new address.', 320), pattern: emailPattern, format: 'email' },
      note,
    }),
    sparesOperators: true,
    tells: { to: describeRecipient },
    perform: (host, id, { to }) => changeEmail(host, id, to),
  }),
  defineAction({
    name: 'account.remove_sign_in',
    subject: accountSubject,
    summary: 'remove a sign-in from an account, even the last one, and end its sessions',
    input: object(['sign_in', 'note'], { sign_in: signIn, note }),
    isDanger: true,
    sparesOperators: true,
    tells: { sign_in: describeSignIn },
    perform: (host, id, { sign_in: provider }) => removeSignIn(host, id, provider),
  }),
  defineAction({
    name: 'account.move_sign_in',
    subject: accountSubject,
    summary: 'move a sign-in to another account, and end the sessions of both',
    input: object(['sign_in', 'to', 'note'], { sign_in: signIn, to: text('The other account.'), note }),
    isDanger: true,
    sparesOperators: true,
    tells: { sign_in: describeSignIn, to: describeRecipient },
    async resolve(host, input) {
      const other = await findAccountByHandle(host, input.to).catch((error: unknown) => {
        // Ignored here, so that the action is recorded; `perform` then fails with the same error.
        if (error instanceof AccountError) return undefined;
        throw error;
      });
      return other === undefined ? input : { ...input, to: other.id };
    },
    async perform(host, id, input) {
      await moveSignIn(host, id, input.sign_in, (await findAccountByHandle(host, input.to)).id);
    },
  }),
  defineAction({
    name: 'account.delete',
    subject: accountSubject,
    summary: 'permanently delete the personal data of an account',
    input: object(['confirm'], {
      confirm: text('The account’s e-mail address or id, to confirm that this account is meant.', 320),
      note,
    }),
    unrecorded: ['confirm'],
    isDanger: true,
    sparesOperators: true,
    async perform(host, id, { confirm }) {
      const { email } = await findAccount(host.database, id);
      if (confirm !== id && confirm.toLowerCase() !== email?.toLowerCase())
        throw new AccountError(
          'not_confirmed',
          `"${confirm}" is neither the e-mail address nor the id of the account.`,
        );
      const openOrders = await host.database.query<{ code: string }>(
        `select code from plan_order where account_id = ? and state in ('created', 'pending') order by created_at`,
        [id],
      );
      if (openOrders.length > 0)
        throw new AccountError(
          'order_open',
          `Order ${openOrders.map(({ code }) => code).join(', ')} can still be paid. Cancel it, or delete the account when it has expired.`,
        );
      await deleteAccount(host.database, id);
    },
  }),
] as const;
