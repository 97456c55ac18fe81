import { compareBooks } from './compare.ts';
import type { Month } from './play.ts';
import type { Notice } from './vendors.ts';

/** The figures at the end of a day, on one line: they remain if the month is aborted. */
export async function describeDay(month: Month): Promise<string> {
  const { counts, differences, model, world } = month;
  const [books, gaps] = await compareBooks(month);
  return [
    `${counts.events} events, ${model.sold.length} orders (${model.refused} refused), ${counts.requests} requests`,
    `${counts.mostPlaces} places at most`,
    `${model.outages.length} outages with ${model.credits.length} credits`,
    world.vendors.summary(),
    `${differences.length} differences on the way, ${books.differences.length} in the books, ${gaps.differences.length} gaps`,
  ].join('; ');
}

/** Describes how long before the first call that met a vendor's trouble its operator got an alert. */
export function describeNotice({ trouble, type, lead }: Notice): string {
  const name = `a vendor that ${trouble}`.padEnd(32);
  if (lead === undefined) return `${name} no ${type}, or no call that met it`;
  if (lead === 0) return `${name} ${type} at the first call that met it`;
  const hours = Math.abs(lead) / 3_600_000;
  const length = hours < 2 ? `${Math.round(hours * 60)} minutes` : `${(hours / 24).toFixed(1)} days`;
  return `${name} ${type} ${length} ${lead > 0 ? 'before' : 'after'} the first call that met it`;
}
