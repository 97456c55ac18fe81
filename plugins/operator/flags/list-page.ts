import { listOpenFlags } from '#core/business/payments/flags.ts';
import type { Page } from '#core/web/pages/page.ts';
import { describeNeed, describeTotal } from '../overview/needs.ts';

/** Flags on one page; when some are resolved, others follow. */
const listed = 200;

/** `/operator/flags`: all that is to be decided about money, also about money without an order, the worst first. */
export const flagsPage: Page = {
  path: '/operator/flags',
  role: 'operator',
  title: 'operator.flags_open',
  template: 'operator/flags.eta',
  styles: ['operator.css', 'tables.css'],
  async show(request) {
    const { flags, total } = await listOpenFlags(request.host.database, listed);
    return {
      needs: flags.map((flag) => describeNeed(flag, request)),
      needsTotal: describeTotal(total, request),
      moreNeeds: '',
    };
  },
};
