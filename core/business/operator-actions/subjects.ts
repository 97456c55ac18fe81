import type { Host } from '#core/gateway/host/host.ts';
import { uuid } from '#core/platform/database/database.ts';
import { findAccountByHandle } from '../accounts/account-list.ts';
import { CheckoutError } from '../payments/checkout-error.ts';
import { findFlag } from '../payments/flags.ts';
import { readOrder } from '../payments/order.ts';
import { findOrderOfRefund } from '../payments/refunds.ts';
import type { ActionSubject, SubjectKind } from './action-kind.ts';
import { describeChoice, describeInText } from './member-describers.ts';

type FindableSubject = SubjectKind & Required<Pick<SubjectKind, 'find'>>;

/** Accounts, found by id, email address, name, key or hint. */
export const accountSubject: FindableSubject = {
  name: 'account',
  async find(host, handle) {
    return toSubject((await findAccountByHandle(host, handle)).id);
  },
};

/** Orders, found by code or id. */
export const orderSubject: FindableSubject = {
  name: 'order',
  find: async (host, handle) => toSubject((await findOrder(host, handle)).id),
};

/** Flags, found by id. The code or id of an order finds all of its flags. */
export const flagSubject: FindableSubject = {
  name: 'flag',
  async find(host, handle) {
    const flag = uuid.test(handle) ? await findFlag(host.database, handle.toLowerCase()) : undefined;
    if (flag !== undefined) return { id: flag.id, recordedAt: flag.orderId ?? flag.id, detail: { flag: flag.kind } };
    return toSubject((await findOrder(host, handle)).id);
  },
  tells: { flag: describeChoice('operator.flag') },
};

/** Refunds, found by key. */
export const refundSubject: FindableSubject = {
  name: 'refund',
  async find(host, handle) {
    const orderId = await findOrderOfRefund(host.database, handle);
    if (orderId === undefined) throw new CheckoutError('not_found', `Refund ${handle} not found.`);
    return { id: handle, recordedAt: orderId, detail: { refund: handle } };
  },
  tells: { refund: describeInText('operator.told.refund', 'refund') },
};

/** The configuration as a whole: gateway.yaml. */
export const configurationSubject: SubjectKind = { name: 'configuration' };

function toSubject(id: string): ActionSubject {
  return { id, recordedAt: id };
}

/**
 * @param handle the order's code or id
 * @param hint advice to append to the error
 * @throws CheckoutError `not_found`
 */
export async function findOrder({ database }: Host, handle: string, hint = '') {
  const order = await readOrder(database, uuid.test(handle) ? { id: handle } : { code: handle });
  if (order === undefined) throw new CheckoutError('not_found', `Order ${handle} not found.${hint}`);
  return order;
}
