import { formatMoneyForTerminal } from '#core/business/accounts/plans.ts';
import { toSmallest } from './exact-money.ts';
import { groupMargins, type MarginGroup, readMargins, writeMargin } from './margins.ts';
import { type AddedTax, readPrices } from './prices.ts';
import type { UsageFiguresReader } from '#core/extension/commands/usage-figures.ts';
import { startOfHour } from '#core/gateway/records/usage.ts';

export const usageFigures: UsageFiguresReader = {
  help: 'Where gateway.yaml declares costs, all but hours have cost, revenue earned and margin.',
  read: (...query) => read(...query),
};

/** Cost and revenue if gateway.yaml declares costs, and usage by plan in any case. Money is allocated before lines are filtered. */
const read: UsageFiguresReader['read'] = async (host, { since, accountId, model, route }, by) => {
  const { isDeclared: hasCosts, taxes } = readPrices(host);
  if (by !== 'plan' && !hasCosts) return undefined;
  const { lines, currency } = await readMargins(host, { from: startOfHour(since), until: host.now() + 1 });
  const wanted = lines.filter(
    (line) =>
      (accountId === undefined || line.account === accountId) &&
      (model === undefined || line.model === model) &&
      (route === undefined || line.route === route),
  );
  const groups = groupMargins(wanted, by);
  if (!hasCosts)
    return {
      titles: [],
      legend: '',
      json: {},
      groups: groups.map(({ key, counts }) => ({ key, counts, cells: [], json: {} })),
    };
  return {
    titles: ['earned', 'cost', 'margin'],
    legend: `cost: at the prices in gateway.yaml today${describeTaxes(taxes)}; earned: prices spread over the time of passes`,
    json: { taxes },
    groups: groups.map((group) => ({
      key: group.key,
      counts: group.counts,
      cells: cellsOf(group, currency),
      json: { ...writeMargin(group, currency), currency },
    })),
  };
};

function describeTaxes(taxes: readonly AddedTax[]): string {
  if (taxes.length === 0) return '';
  const list = taxes.map(({ percent, of: names }) => `${percent} % of ${names.join(', ')}`);
  return `, with tax on top (${list.join('; ')})`;
}

function cellsOf({ cost, earned }: MarginGroup, currency: string) {
  return [earned, cost, earned - cost].map((money) => {
    const text = formatMoneyForTerminal(toSmallest(money, currency), currency);
    return money < 0 ? ({ text, kind: 'bad' } as const) : { text };
  });
}
