import { currencySection } from '#core/business/accounts/plans.ts';
import type { PageReader } from '#core/web/pages/page.ts';
import type { CostNotes, UsageCosts, ReadUsageCosts } from '#core/web/pages/usage-costs.ts';
import { type ExactMoney, toSmallestUnit } from './exact-money.ts';
import { readMarginsForUsage } from './margin-readings.ts';
import { computeRouteCosts, type Margin, type Margins, sumMargins } from './margins.ts';

export const readUsageCosts: ReadUsageCosts = async (reader, span) => {
  const margins = await readMarginsForUsage(reader.host, span);
  return margins && describeCosts(margins, reader);
};

function describeCosts(margins: Margins, reader: PageReader): UsageCosts {
  const selectLines = (id: string) => margins.lines.filter(({ account }) => account === id);
  return {
    total: describeNotes(sumMargins(margins.days), 'margins.beside_margin', reader),
    ofAccount: (id) => describeNotes(sumMargins(selectLines(id)), 'margins.beside_margin_30d', reader),
    ofModel: (id, model) =>
      formatExactMoney(sumMargins(selectLines(id).filter((line) => line.model === model)).cost, reader),
    ofRoute: (model, route) => formatExactMoney(computeRouteCosts(margins).get(`${model} ${route}`) ?? 0n, reader),
  };
}

function describeNotes({ cost, earned }: Margin, remainderKey: string, reader: PageReader): CostNotes {
  const { t } = reader;
  return {
    cost: t('margins.beside_cost', { amount: formatExactMoney(cost, reader) }),
    left: t(remainderKey, { amount: formatExactMoney(earned - cost, reader) }),
  };
}

export function formatExactMoney(money: ExactMoney, { format, host }: Pick<PageReader, 'format' | 'host'>): string {
  const currency = host.section(currencySection);
  return format.money(toSmallestUnit(money, currency), currency);
}
