import type { Host } from '#core/gateway/host/host.ts';
import { uuid } from '#core/platform/database/database.ts';
import { CheckoutError } from '../payments/checkout-error.ts';
import type { ActionSubject, SubjectKind } from './action-kind.ts';
import { choice, within } from './telling.ts';

type FoundSubject = SubjectKind & Required<Pick<SubjectKind, 'find'>>;

/** Found by id, e-mail address, name, key or hint. */
export const accountSubject: FoundSubject = {
  name: 'account',
  async find(host, handle) {
    const { findAccountByHandle } = await import('../accounts/account-list.ts');
    return at((await findAccountByHandle(host, handle)).id);
  },
};

/** Found by code or id. */
export const orderSubject: FoundSubject = {
  name: 'order',
  find: async (host, handle) => at((await findOrder(host, handle)).id),
};

/** Found by its id, or by an order for all flags of the order. */
export const flagSubject: FoundSubject = {
  name: 'flag',
  async find(host, handle) {
    const { findFlag } = await import('../payments/flags.ts');
    const flag = uuid.test(handle) ? await findFlag(host.database, handle.toLowerCase()) : undefined;
    if (flag !== undefined) return { id: flag.id, recordedAt: flag.orderId ?? flag.id, detail: { flag: flag.kind } };
    return at((await findOrder(host, handle)).id);
  },
  tells: { flag: choice('operator.flag') },
};

/** Found by its key. */
export const refundSubject: FoundSubject = {
  name: 'refund',
  async find(host, handle) {
    const { findOrderOfRefund } = await import('../payments/refunds.ts');
    const orderId = await findOrderOfRefund(host.database, handle);
    if (orderId === undefined) throw new CheckoutError('not_found', `There is no refund ${handle}.`);
    return { id: handle, recordedAt: orderId, detail: { refund: handle } };
  },
  tells: { refund: within('operator.told.refund', 'refund') },
};

export const configurationSubject: SubjectKind = { name: 'configuration' };

function at(id: string): ActionSubject {
  return { id, recordedAt: id };
}

/**
 * Finds an order.
 *
 * @param handle its code or id
 * @param hint advice to append if there is none
 * @throws CheckoutError `not_found`
 */
export async function findOrder({ database }: Host, handle: string, hint = '') {
  const { readOrder } = await import('../payments/order.ts');
  const order = await readOrder(database, uuid.test(handle) ? { id: handle } : { code: handle });
  if (order === undefined) throw new CheckoutError('not_found', `Order ${handle} not found.${hint}`);
  return order;
}
