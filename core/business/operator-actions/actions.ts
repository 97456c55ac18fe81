import { userInfo } from 'node:os';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import { resetRoute, routeIdsOf } from '#core/gateway/model-call/route-reset.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { uuid } from '#core/platform/database/database.ts';
import { AccountError } from '../accounts/account-error.ts';
import { CheckoutError } from '../payments/checkout-error.ts';
import { accountActions } from './account-actions.ts';
import { type ActionKind, ActionRefused, type ActionWords, type SubjectKind } from './action-kind.ts';
import { type OperatorAction, recordAction } from './operator-actions.ts';
import { announcementActions } from './announcement-actions.ts';
import { mailActions } from './mail-actions.ts';
import { orderActions } from './order-actions.ts';
import { object } from '#core/platform/schema.ts';

export { type ActionKind, type ActionWords, hasHandle } from './action-kind.ts';

const routeReset: ActionKind = {
  name: 'route.reset',
  subject: 'route',
  summary: 'close the breaker of a route and end the cooldowns of its keys',
  input: object({}),
  perform: (host, route) => resetRoute(host, route),
};

/** All that operators do, on pages, by commands and over the API. */
export const actionKinds: readonly ActionKind[] = [
  ...accountActions,
  ...orderActions,
  ...announcementActions,
  ...mailActions,
  routeReset,
];

export function actionKind(name: OperatorAction['action']): ActionKind {
  const kind = actionKinds.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`there is no action ${name}`);
  return kind;
}

/** What an action is about. */
export interface ActionSubject {
  /** That `perform` takes. */
  readonly id: string;
  /** Where the action is on record: at the order of a flag or refund. */
  readonly recordedAt: string;
  /** What the record says beside the input, where that place is not enough. */
  readonly detail?: Pick<ActionWords, 'refund' | 'flag' | 'mailed'>;
}

/**
 * Finds what an action is about.
 *
 * @param handle of an account: id, e-mail address, name, key or hint; of an order: code or id; of a flag: its id, or an order for
 *   all of its flags; of a refund: its key; of a route, an announcement or a mail: its id
 * @throws AccountError `not_found`, `ambiguous`; CheckoutError `not_found`
 */
export async function findSubject(host: Host, kind: SubjectKind, handle: string): Promise<ActionSubject> {
  switch (kind) {
    case 'account': {
      const { findAccountByHandle } = await import('../accounts/account-list.ts');
      return at((await findAccountByHandle(host, handle)).id);
    }
    case 'order':
      return at((await findOrder(host, handle)).id);
    case 'flag': {
      const { findFlag } = await import('../payments/flags.ts');
      const flag = uuid.test(handle) ? await findFlag(host.database, handle.toLowerCase()) : undefined;
      if (flag !== undefined) return { id: flag.id, recordedAt: flag.orderId ?? flag.id, detail: { flag: flag.kind } };
      return at((await findOrder(host, handle)).id);
    }
    case 'refund': {
      const { findOrderOfRefund } = await import('../payments/refunds.ts');
      const orderId = await findOrderOfRefund(host.database, handle);
      if (orderId === undefined) throw new CheckoutError('not_found', `There is no refund ${handle}.`);
      return { id: handle, recordedAt: orderId, detail: { refund: handle } };
    }
    case 'route':
      if (routeIdsOf(host).includes(handle)) return at(handle);
      throw new CheckoutError('not_found', `There is no route ${handle}.`);
    case 'announcement': {
      const { findAnnouncement } = await import('../announcements/announcements.ts');
      const announcement = await findAnnouncement(host.database, handle);
      if (announcement !== undefined) return { id: announcement.id, recordedAt: 'announcements' };
      throw new AccountError('not_found', `There is no announcement ${handle}.`);
    }
    case 'mail': {
      const { listMails } = await import('../mail/mails.ts');
      const [mail] = /^\d{1,18}$/.test(handle) ? await listMails(host.database, { id: handle }, 1) : [];
      if (mail === undefined) throw new CheckoutError('not_found', `There is no mail ${handle}.`);
      return { id: mail.id, recordedAt: mail.orderId ?? mail.accountId, detail: { mailed: mail.event } };
    }
    case 'announcements':
    case 'books':
    case 'configuration':
    case 'outage':
      return at(kind);
  }
}

function at(id: string): ActionSubject {
  return { id, recordedAt: id };
}

async function findOrder({ database }: Host, handle: string) {
  const { readOrder } = await import('../payments/order.ts');
  const order = await readOrder(database, uuid.test(handle) ? { id: handle } : { code: handle });
  if (order === undefined) throw new CheckoutError('not_found', `Order ${handle} not found.`);
  return order;
}

/** An action that was done. */
export interface ActionDone {
  readonly subject: ActionSubject;
  /** What came of it, where that is more than done. */
  readonly result: Readonly<Record<string, unknown>>;
}

/** Does an action and records who did it. @throws what `perform` throws; AccountError `operator_account` */
export async function runAction(
  host: Host,
  operator: OperatorAction['operator'],
  kind: ActionKind,
  handle: string,
  input: ActionWords,
): Promise<ActionDone> {
  const subject = await findSubject(host, kind.subject, handle);
  const words = (await kind.resolve?.(host, input)) ?? input;
  const action = {
    operator,
    action: kind.name,
    subject: subject.recordedAt,
    words: { ...words, ...subject.detail },
  };
  const result = await recordAction(host.database, action, async () => {
    if (kind.sparesOperators === true) await requireCustomer(host, subject.id);
    return kind.perform(host, subject.id, words, operator);
  });
  return { subject, result: result ?? {} };
}

/** Nobody locks an operator out by mistake, himself included: that takes a change of gateway.yaml. */
async function requireCustomer(host: Host, accountId: string): Promise<void> {
  const { findAccount } = await import('../accounts/accounts.ts');
  const { email } = await findAccount(host.database, accountId);
  if (isOperatorAddress(host, email))
    throw new AccountError(
      'operator_account',
      `${email} is an operator. Remove the address from operators in gateway.yaml first.`,
    );
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

/** Why an action was not done. The message is for people. */
export type ActionError = AccountError | CheckoutError | ActionRefused;

export function isActionError(error: unknown): error is ActionError {
  return error instanceof AccountError || error instanceof CheckoutError || error instanceof ActionRefused;
}
