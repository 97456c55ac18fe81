import type { Host } from '#core/gateway/host/host.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import type { Localizer } from '#core/web/pages/page.ts';
import type { NoteSource } from '#core/web/pages/plugin-notes.ts';
import { type Balance, isUsedUp, selectLowBalances, readBalances } from './balances.ts';
import { queryBalances } from './query-balances.ts';
import { balancesPath } from './resource.ts';

const maxAgeMs = 60_000; // the vendors themselves are queried only every hour
const timeoutMs = 10_000;

const readings = new WeakMap<Host, FreshValue<readonly Balance[]>>(); // cached for pages that refresh every few seconds

export function getRecentBalances(host: Host): Promise<readonly Balance[]> {
  const options = {
    maxAgeMs,
    staleWhileReadMs: maxAgeMs,
    timeoutMs,
    now: () => host.monotonic(),
    read: () => readBalances(host),
  };
  const reading = readings.get(host) ?? new FreshValue<readonly Balance[]>(options);
  readings.set(host, reading);
  return reading.get();
}

/** Queries the vendors, and drops this instance's cached balances so that its pages show the results immediately. */
export async function renewBalances(host: Host): Promise<void> {
  await queryBalances(host);
  readings.delete(host);
}

export const balanceNotes: NoteSource = async ({ host, t, format }) => {
  const lowBalances = selectLowBalances(host, await getRecentBalances(host));
  return lowBalances.flatMap((balance) => {
    const text = isUsedUp(balance)
      ? t('balances.spent')
      : t('balances.left', { days: describeDays(balance, { t, format }) });
    const routes = host.catalog.models.flatMap((model) =>
      model.routes.filter(({ upstream }) => balance.upstreams.includes(upstream.name)),
    );
    const kind = roundDays(balance) < 1 ? ('bad' as const) : ('warn' as const);
    return [...new Set(routes.map(({ id }) => id))].map((about) => ({ about, text, kind, path: balancesPath }));
  });
};

/** If an upstream's keys belong to several accounts, returns the fewest days, because metrics with equal labels would be added up. */
export function findFewestDays(balances: readonly Pick<Balance, 'upstreams' | 'days'>[]): Map<string, number> {
  const least = new Map<string, number>();
  for (const { upstreams, days = Infinity } of balances)
    for (const upstream of upstreams) if (days < (least.get(upstream) ?? Infinity)) least.set(upstream, days);
  return least;
}

export function roundDays(balance: Pick<Balance, 'days' | 'amount' | 'isAvailable'>): number {
  const { days = 0 } = isUsedUp(balance) ? {} : balance;
  return days < 1 ? Math.floor(days * 10) / 10 : Math.floor(days);
}

export function describeDays(
  balance: Pick<Balance, 'days' | 'amount' | 'isAvailable'>,
  { t, format }: Localizer,
): string {
  const days = roundDays(balance);
  return t('balances.day_count', { count: days, days: format.number(days) });
}
