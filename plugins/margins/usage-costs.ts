import { currencySection } from '#core/business/accounts/plans.ts';
import type { PageReader } from '#core/web/pages/page.ts';
import type { CostNotes, UsageCosts, ReadUsageCosts } from '#core/web/pages/usage-costs.ts';
import { type ExactMoney, toSmallest } from './exact-money.ts';
import { readMarginsForUsage } from './margin-readings.ts';
import { computeRouteCosts, type Margin, type Margins, sumMargins } from './margins.ts';

/** Reads the costs that pages show next to usage, or undefined if there are none yet. */
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
      formatExact(sumMargins(selectLines(id).filter((line) => line.model === model)).cost, reader),
    ofRoute: (model, route) => formatExact(computeRouteCosts(margins).get(`${model} ${route}`) ?? 0n, reader),
  };
}

/** Describes a cost, and what remains of the earnings after it. */
function describeNotes({ cost, earned }: Margin, remainderKey: string, reader: PageReader): CostNotes {
  const { t } = reader;
  return {
    cost: t('margins.beside_cost', { amount: formatExact(cost, reader) }),
    left: t(remainderKey, { amount: formatExact(earned - cost, reader) }),
  };
}

/** Formats an exact amount as money, rounded to the smallest payable unit. */
export function formatExact(money: ExactMoney, { format, host }: Pick<PageReader, 'format' | 'host'>): string {
  const currency = host.section(currencySection);
  return format.money(toSmallest(money, currency), currency);
}
