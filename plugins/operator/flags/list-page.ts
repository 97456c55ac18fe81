import { listOpenFlags } from '#core/business/payments/flags.ts';
import type { Page } from '#core/web/pages/page.ts';
import { describeFlag } from '#core/web/problems/money-problems.ts';
import { describeNeed, describeOpenCount } from '../overview/needs.ts';

const maxFlags = 200;

export const flagsPage: Page = {
  path: '/operator/flags',
  role: 'operator',
  title: 'operator.flags_open',
  within: '/operator/orders',
  template: 'operator/flags.eta',
  async show(request) {
    const readFlags = async (about: 'orders' | 'no order') => {
      const { flags, total } = await listOpenFlags(request.host.database, maxFlags, about);
      const needs = flags.map((flag) => describeNeed(describeFlag(flag, request), request));
      return { needs, needsTotal: describeOpenCount(total, request) };
    };
    const [orderFlags, flagsWithoutOrder] = await Promise.all([readFlags('orders'), readFlags('no order')]);
    return { ...orderFlags, moreNeeds: '', foreign: flagsWithoutOrder };
  },
};
