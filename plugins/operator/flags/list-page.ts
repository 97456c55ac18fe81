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
  template: 'operator/flags.eta',
  async show(request) {
    const { database } = request.host;
    const [{ flags, total }, foreign] = await Promise.all([
      listOpenFlags(database, listed, 'orders'),
      listOpenFlags(database, listed, 'no order'),
    ]);
    return {
      needs: flags.map((flag) => describeNeed(describeFlag(flag, request), request)),
      needsTotal: describeTotal(total, request),
      moreNeeds: '',
      foreign: foreign.flags.map((flag) => describeNeed(describeFlag(flag, request), request)),
      foreignTotal: describeTotal(foreign.total, request),
    };
  },
};
