import { userInfo } from 'node:os';
import { uuid } from '#core/platform/database/database.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { AccountError } from '../accounts/account-error.ts';
import { CheckoutError } from '../payments/checkout-error.ts';
import { type DaysBack, waysOfDaysBack } from '../payments/order-types.ts';
import { type OperatorAction, recordAction } from './operator-actions.ts';

/** What an operator says with an action. Which members it takes is in its schema. */
export interface ActionWords {
  /** Why, or what was done. */
  readonly note?: string | undefined;
  readonly days?: number | undefined;
  readonly to?: string | undefined;
  readonly sign_in?: string | undefined;
  readonly payment?: string | undefined;
  readonly amount?: number | undefined;
  readonly manual?: boolean | undefined;
  readonly days_back?: DaysBack | undefined;
  readonly label?: string | undefined;
  readonly flag?: string | undefined;
}

/** An action, from which its command and its endpoint of the operator's API follow. */
export interface ActionKind {
  readonly name: OperatorAction['action'];
  readonly subject: 'account' | 'order';
  /** Begins with a verb. */
  readonly summary: string;
  /** The input: members of `ActionWords`. */
  readonly input: JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };
  /** @throws AccountError, CheckoutError with messages for people */
  perform(host: Host, subjectId: string, input: ActionWords): Promise<unknown>;
}

const text = (description: string, maxLength = 200) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: '\\S', description }) as const;
const note = text('Why, for the record.', 500);
const signIn = text('Name of the provider, such as google.', 60);
/** Without what separates or encloses the addresses of a mail. */
const emailAddress = '^[^@\\s<>,;"]+@[^@\\s<>,;"]+$';

const schema = <const P extends Readonly<Record<string, JsonSchema>>>(
  properties: P,
  required: readonly (keyof P & string)[],
) => ({ type: 'object', properties, required, additionalProperties: false }) as const;

/** What is done is loaded when it is: MikroORM would slow all commands down. */
const accounts = () => import('../accounts/recovery.ts');
const blocking = () => import('../accounts/blocking.ts');
const checkout = () => import('../payments/checkout.ts');

/** All actions on accounts and orders. */
export const actionKinds: readonly ActionKind[] = [
  {
    name: 'account.block',
    subject: 'account',
    summary: 'refuse an account, end its sessions and prevent its sign-in',
    input: schema({ note }, ['note']),
    perform: async ({ database }, id, input) => (await blocking()).blockAccount(database, id, input.note ?? ''),
  },
  {
    name: 'account.unblock',
    subject: 'account',
    summary: 'serve a blocked account again, with the same key',
    input: schema({}, []),
    perform: async ({ database }, id) => (await blocking()).unblockAccount(database, id),
  },
  {
    name: 'account.add_days',
    subject: 'account',
    summary: 'add days to an account, or take days back from the end with a negative number',
    input: schema(
      {
        days: { type: 'integer', minimum: -365, maximum: 365, description: 'Days to add; negative ones are taken.' },
        label: text('What customers read as the name of added days; default: their number.', 60),
        note,
      },
      ['days', 'note'],
    ),
    perform: async ({ database }, id, { days = 0, label, note: why = '' }) => {
      const { grantDays, revokeDays } = await import('../accounts/ledger.ts');
      if (days > 0) await grantDays(database, id, { days, label, note: why });
      else if (days < 0) await database.fork().transactional((transaction) => revokeDays(transaction, id, -days, why));
    },
  },
  {
    name: 'account.note',
    subject: 'account',
    summary: 'write a note about an account, which only operators see',
    input: schema({ note }, ['note']),
    // The record of the action is the note.
    perform: () => Promise.resolve(),
  },
  {
    name: 'account.change_email',
    subject: 'account',
    summary: 'give an account another e-mail address; the former one gets a mail',
    input: schema({ to: { ...text('The new address.', 320), pattern: emailAddress }, note }, ['to', 'note']),
    async perform(host, id, { to = '' }) {
      if (!new RegExp(emailAddress).test(to))
        throw new AccountError('email_invalid', `"${to}" is not an e-mail address.`);
      await (await accounts()).changeEmail(host, id, to);
    },
  },
  {
    name: 'account.remove_sign_in',
    subject: 'account',
    summary: 'remove a sign-in from an account, also the last one, and end its sessions',
    input: schema({ sign_in: signIn, note }, ['sign_in', 'note']),
    perform: async (host, id, { sign_in: provider = '' }) => (await accounts()).removeSignIn(host, id, provider),
  },
  {
    name: 'account.move_sign_in',
    subject: 'account',
    summary: 'move a sign-in to another account, and end the sessions of both',
    input: schema({ sign_in: signIn, to: text('The other account.'), note }, ['sign_in', 'to', 'note']),
    perform: async (host, id, { sign_in: provider = '', to = '' }) =>
      (await accounts()).moveSignIn(host, id, provider, await findSubject(host, 'account', to)),
  },
  {
    name: 'order.check',
    subject: 'order',
    summary: 'ask the provider about an order now',
    input: schema({}, []),
    perform: async (host, id) => (await checkout()).checkOrder(host, id),
  },
  {
    name: 'order.cancel',
    subject: 'order',
    summary: 'cancel an order that is not paid; a payment that comes nevertheless still counts',
    input: schema({ note }, ['note']),
    async perform(host, id) {
      const { state, code } = await (await checkout()).cancelOrder(host, id);
      if (state !== 'cancelled')
        throw new CheckoutError('not_open', `Order ${code} is ${state}; it cannot be cancelled.`);
    },
  },
  {
    name: 'order.refund',
    subject: 'order',
    summary: 'pay a payment back, in full or in part',
    input: schema(
      {
        payment: text('Its id, where the order has several with anything left.'),
        amount: { type: 'integer', minimum: 1, description: 'A part of it; default: all that is left.' },
        manual: { type: 'boolean', description: 'Whether you have paid it back yourself.' },
        days_back: {
          enum: waysOfDaysBack,
          description: 'Days that go back; default: unused ones with the whole payment, none with a part.',
        },
        note,
      },
      ['note'],
    ),
    async perform(host, id, { payment, amount, manual = false, days_back: days, note: reason = '' }) {
      const { findOrderOfPayment, refundOrder, refundPayment } = await import('../payments/refunds.ts');
      const options = { amount, days, isManual: manual, reason };
      if (payment !== undefined && (await findOrderOfPayment(host.database, payment))?.id !== id)
        throw new CheckoutError('not_found', `The order has no payment ${payment}.`);
      const { refund } = await (payment === undefined
        ? refundOrder(host, id, options)
        : refundPayment(host, payment, options));
      if (refund.state === 'failed')
        throw new CheckoutError(
          'not_refunded',
          'The provider did not refund the payment. Pay the money back yourself, then record that (manual).',
        );
    },
  },
  {
    name: 'flag.resolve',
    subject: 'order',
    summary: 'mark the flags of an order as resolved, with what was done',
    input: schema({ flag: text('Id of one flag; default: all of the order.'), note }, ['note']),
    async perform({ database }, id, { flag, note: done = '' }) {
      const { readOrder } = await import('../payments/order.ts');
      const order = await readOrder(database, { id });
      const isOfOrder = flag === undefined || order?.flags.some((one) => one.id === flag.toLowerCase()) === true;
      const { resolveFlag } = await import('../payments/flags.ts');
      const resolved = isOfOrder ? await resolveFlag(database, flag?.toLowerCase() ?? id, done) : 0;
      if (resolved === 0)
        throw new CheckoutError('not_open', `Order ${order?.code ?? id} has no flag that is not resolved.`);
    },
  },
];

export function actionKind(name: OperatorAction['action']): ActionKind {
  const kind = actionKinds.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`there is no action ${name}`);
  return kind;
}

/**
 * The id of an account or an order.
 *
 * @param handle of an account: id, e-mail address, name, key or hint; of an order: code or id
 * @throws AccountError `not_found`, `ambiguous`; CheckoutError `not_found`
 */
export async function findSubject(host: Host, kind: ActionKind['subject'], handle: string): Promise<string> {
  if (kind === 'account') {
    const { findAccountByHandle } = await import('../accounts/account-list.ts');
    return (await findAccountByHandle(host, handle)).id;
  }
  const { readOrder } = await import('../payments/order.ts');
  const order = await readOrder(host.database, uuid.test(handle) ? { id: handle } : { code: handle });
  if (order === undefined) throw new CheckoutError('not_found', `Order ${handle} not found.`);
  return order.id;
}

/** Does an action and records who did it. @returns the id of its subject @throws what `perform` throws */
export async function runAction(
  host: Host,
  operator: OperatorAction['operator'],
  kind: ActionKind,
  handle: string,
  input: ActionWords,
): Promise<string> {
  const subject = await findSubject(host, kind.subject, handle);
  const action = { operator, action: kind.name, subject, note: describeInput(input) };
  await recordAction(host.database, action, () => kind.perform(host, subject, input));
  return subject;
}

/** The input in one line, the operator's words last. */
function describeInput({ note: words, ...rest }: ActionWords): string | undefined {
  const parts = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${String(value)}`],
  );
  return [...parts, ...(words === undefined ? [] : [words])].join(', ') || undefined;
}

/** Who uses a command: no account, but the user of the machine. */
export function commandOperator(): OperatorAction['operator'] {
  return { id: '00000000-0000-0000-0000-000000000000', name: `command (${userName()})` };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown user'; // a container's user may have no name
  }
}

/** True for an error whose message is for people. */
export function isActionError(error: unknown): error is AccountError | CheckoutError {
  return error instanceof AccountError || error instanceof CheckoutError;
}
