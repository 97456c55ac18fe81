import { getLimitSamples } from '#core/gateway/model-call/reported-limits.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { describeTable } from '#core/web/pages/table.ts';
import { countActivePasses, selectLowBalances, readBalances } from './balances.ts';
import { describeEffect } from './problems.ts';
import { balances, balancesPath } from './resource.ts';

export const balancesPage = tablesPage({
  path: balancesPath,
  title: 'balances.title',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['balances.none', 'balances.none_text'],
  lead: 'balances.lead',
  resource: balances,
  async read(request) {
    const { host } = request;
    const [allBalances, passes] = await Promise.all([readBalances(host), countActivePasses(host.database)]);
    return {
      notes: selectLowBalances(host, allBalances).map(
        (balance) => `${balance.upstreams.join(', ')}: ${describeEffect(balance, passes, request)}`,
      ),
      sections: [{ entries: allBalances }, describeLimitsTable(request)],
    };
  },
});

function describeLimitsTable(request: PageRequest) {
  const { t, host, format } = request;
  const describeLimit = (sample: { readonly limit: number; readonly left: number } | undefined) =>
    sample === undefined
      ? ''
      : t('balances.of', { left: format.number(sample.left), limit: format.number(sample.limit) });
  return describeTable(request, 'limits', 'balances.limits', getLimitSamples(host).latest(host), [
    { label: 'balances.upstream', fit: 'id', at: 'title', cell: ({ upstream }) => upstream },
    { label: 'balances.requests', at: 'note', isNamed: true, cell: ({ requests }) => describeLimit(requests) },
    { label: 'balances.tokens', at: 'end', cell: ({ tokens }) => describeLimit(tokens) },
    { label: 'balances.read', at: 'note-end', cell: ({ reportedAt }) => new Date(reportedAt) },
  ]);
}
