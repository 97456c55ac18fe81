import { listOpenFlags } from '#core/business/payments/flags.ts';
import type { Page } from '#core/web/pages/page.ts';
import { describeFlag } from '#core/web/problems/money-problems.ts';
import { describeNeed, describeTotal } from '../overview/needs.ts';

/** Maximum flags on the page; as flags are resolved, further ones move up. */
const listed = 200;

/** `/operator/flags`: pending decisions about orders, worst first; below them those about money without an order. */
export const flagsPage: Page = {
  path: '/operator/flags',
  role: 'operator',
  title: 'operator.flags_open',
  within: '/operator/orders',
  template: 'operator/flags.eta',
  async show(request) {
    const list = async (about: 'orders' | 'no order') => {
      const { flags, total } = await listOpenFlags(request.host.database, listed, about);
      const needs = flags.map((flag) => describeNeed(describeFlag(flag, request), request));
      return { needs, needsTotal: describeTotal(total, request) };
    };
    const [ofOrders, foreign] = await Promise.all([list('orders'), list('no order')]);
    return { ...ofOrders, moreNeeds: '', foreign };
  },
};
