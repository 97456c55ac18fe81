import type { PageRequest } from '#core/web/pages/page.ts';
import { getLimitSamples } from '#core/gateway/model-call/reported-limits.ts';
import { describeTable } from '#core/web/pages/table.ts';
import { fieldTable } from '#core/web/resources/field.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import { countActivePasses, lowBalances, readBalances } from './balances.ts';
import { describeEffect } from './problems.ts';
import { balances, balancesPath } from './resource.ts';

/** Maximum number of accounts on the page. */
const listed = 200;

/** `/operator/balances`: the balances of the accounts at vendors, and the models that depend on them. */
export const balancesPage = tablesPage({
  path: balancesPath,
  title: 'balances.title',
  within: '/operator/health',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['balances.none', 'balances.none_text'],
  async read(request) {
    const { host, t } = request;
    const [all, passes] = await Promise.all([readBalances(host), countActivePasses(host.database)]);
    return {
      lead: t('balances.lead'),
      notes: lowBalances(host, all).map(
        (one) => `${one.upstreams.join(', ')}: ${describeEffect(one, passes, request)}`,
      ),
      sections: [
        fieldTable(request, 'balances', 'balances.title', all.slice(0, listed), balances.view.page),
        limitsTable(request),
      ],
    };
  },
});

/** Limits from vendors' response headers, as last seen by this instance. */
function limitsTable(request: PageRequest) {
  const { t, host, format } = request;
  const show = (one: { readonly limit: number; readonly left: number } | undefined) =>
    one === undefined ? '' : t('balances.of', { left: format.number(one.left), limit: format.number(one.limit) });
  return describeTable(request, 'limits', 'balances.limits', getLimitSamples(host).latest(host).slice(0, listed), [
    { label: 'balances.upstream', fit: 'id', at: 'title', cell: ({ upstream }) => upstream },
    { label: 'balances.requests', at: 'note', isNamed: true, cell: ({ requests }) => show(requests) },
    { label: 'balances.tokens', at: 'end', cell: ({ tokens }) => show(tokens) },
    { label: 'balances.read', at: 'note-end', cell: ({ reportedAt }) => new Date(reportedAt) },
  ]);
}
