import { formatLocalTime } from '#core/platform/timing/time-zone.ts';

/** Start and end, epoch ms. */
export type CreditSpan = readonly [from: number, until: number];

/** Ms in which no time zone changes its day: all offsets are multiples of it. */
const slice = 15 * 60_000;

/**
 * Returns the total ms credited to an account for outages: each moment counts once, even if several models were down, only while the
 * account had paid time, and up to a daily limit. Pure and independent of the order, so the credit of one more outage is the difference of
 * two results.
 *
 * @param mostOfDay maximum ms per day
 */
export function creditedTime(
  outages: readonly CreditSpan[],
  paid: readonly CreditSpan[],
  mostOfDay: number,
  timeZone: string,
): number {
  const byDay = new Map<string, number>();
  for (const [from, until] of intersect(unite(outages), unite(paid)))
    for (let at = from; at < until;) {
      const next = Math.min(until, (Math.floor(at / slice) + 1) * slice);
      const { day } = formatLocalTime(new Date(at), timeZone);
      byDay.set(day, (byDay.get(day) ?? 0) + next - at);
      at = next;
    }
  return [...byDay.values()].reduce((sum, ms) => sum + Math.min(ms, mostOfDay), 0);
}

function unite(spans: readonly CreditSpan[]): CreditSpan[] {
  const united: [number, number][] = [];
  for (const [from, until] of spans.toSorted(([one], [other]) => one - other)) {
    const last = united.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], until);
    else united.push([from, until]);
  }
  return united;
}

function intersect(some: readonly CreditSpan[], others: readonly CreditSpan[]): CreditSpan[] {
  return some.flatMap(([from, until]) =>
    others.flatMap(([start, end]): CreditSpan[] => {
      const both = [Math.max(from, start), Math.min(until, end)] as const;
      return both[0] < both[1] ? [both] : [];
    }),
  );
}
