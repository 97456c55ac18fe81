import { formatMoneyForTerminal } from '#core/business/accounts/money.ts';
import type { UsageFigures, UsageFiguresReader } from '#core/extension/commands/usage-figures.ts';
import { startOfHour } from '#core/gateway/records/usage.ts';
import { toSmallestUnit } from './exact-money.ts';
import { groupMargins, readMargins, describeMargin } from './margins.ts';
import { type AddedTax, readPrices } from './prices.ts';

export const usageFigures: UsageFiguresReader = {
  help: 'If gateway.yaml declares costs, all but hours include cost, earned revenue and margin.',
  read: (...query) => readFigures(...query),
};

/** Reads cost and revenue if gateway.yaml declares costs. Money is allocated before the filter applies. */
const readFigures: UsageFiguresReader['read'] = async (host, { since, accountId, model, route }, by) => {
  const { isDeclared: hasCosts, taxes } = readPrices(host);
  if (by !== 'plan' && !hasCosts) return undefined;
  const { lines, currency } = await readMargins(host, { from: startOfHour(since), until: host.now() + 1 });
  const selectedLines = lines.filter(
    (line) =>
      (accountId === undefined || line.account === accountId) &&
      (model === undefined || line.model === model) &&
      (route === undefined || line.route === route),
  );
  const groups = groupMargins(selectedLines, by);
  if (!hasCosts)
    return {
      fields: [],
      legend: '',
      json: {},
      groups: groups.map(({ key, counts }) => ({ key, counts, values: [], json: {} })),
    };
  return {
    fields: ['earned', 'cost', 'margin'].map((name, index) => createMoneyField(name, index, currency)),
    legend: `cost: at the prices in gateway.yaml today${describeTaxes(taxes)}; earned: revenue recognized evenly over the time of each pass`,
    json: { taxes },
    groups: groups.map((group) => ({
      key: group.key,
      counts: group.counts,
      values: [group.earned, group.cost, group.earned - group.cost].map((money) => toSmallestUnit(money, currency)),
      json: { ...describeMargin(group, currency), currency },
    })),
  };
};

function describeTaxes(taxes: readonly AddedTax[]): string {
  if (taxes.length === 0) return '';
  const list = taxes.map(({ percent, of: names }) => `${percent} % of ${names.join(', ')}`);
  return `, with tax on top (${list.join('; ')})`;
}

function createMoneyField(name: string, index: number, currency: string): UsageFigures['fields'][number] {
  return {
    name,
    type: 'count',
    value: ({ figures }) => figures?.values[index],
    print: ({ figures: { values = [] } = {} }) =>
      values[index] === undefined ? '' : formatMoneyForTerminal(values[index], currency),
    kind: ({ figures }) => ((figures?.values[index] ?? 0) < 0 ? 'bad' : undefined),
  };
}
