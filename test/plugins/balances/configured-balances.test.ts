import { expect, it } from 'vitest';
import { currencySection } from '#core/business/accounts/plans.ts';
import { models } from '#core/config/sections/models-section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readConfiguredBalances } from '../../../plugins/balances/configured-balances.ts';
import { balancesSection } from '../../../plugins/balances/section.ts';

const hour = 3_600_000;
const day = 24 * hour;
const begin = Date.parse('2026-01-01T00:00:00Z');

/** A shop that uses a dollar an hour at each of two upstreams. */
class Shop {
  now = begin + 100 * day + hour / 2;
  /** Hours of each reading. */
  readonly read: number[] = [];
  readonly host = {
    catalog: {},
    now: () => this.now,
    monotonic: () => this.now,
    section: (section: unknown) => {
      if (section === currencySection) return 'USD';
      if (section === models) return {};
      if (section === upstreams) return { one: { cost: { input: 1 } }, other: { cost: { input: 1 } } };
      return section === balancesSection ? { own: this.own } : undefined;
    },
    database: {
      records: {
        query: (_sql: string, [since, until]: readonly unknown[]) => Promise.resolve(this.#usage(since, until)),
      },
    },
  } as unknown as Host;
  own: Record<string, object> = {
    one: { amount: 10_000, as_of: '2026-01-01' },
    other: { amount: 10_000, as_of: '2026-01-01' },
  };

  /** Parameters of both halves of the statement follow each other. */
  #usage(since: unknown, next: unknown) {
    const [from, to] = [timeOf(since), timeOf(next)];
    const hours = Math.max(0, (since === next ? this.now : to) - from) / hour;
    this.read.push(Math.round(hours));
    const counts = { input_tokens: hours * 1_000_000, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
    return ['one/m', 'other/m'].map((route) => ({ route, ...counts, images: 0 }));
  }
}

function timeOf(parameter: unknown): number {
  return Date.parse(String(parameter instanceof Date ? parameter.toISOString() : parameter));
}

it('own figures read months of use once an hour, and the last two hours each time', async () => {
  const shop = new Shop();
  const amounts = async () => (await readConfiguredBalances(shop.host)).map(({ amount }) => amount);
  expect(await amounts()).toEqual([10_000 - 2_400.5, 10_000 - 2_400.5]);
  for (let minute = 0; minute < 20; minute++) {
    shop.now += 60_000;
    await amounts();
  }
  expect(shop.read.filter((hours) => hours > 2)).toHaveLength(2);
  const [one] = await readConfiguredBalances(shop.host);
  expect(one?.amount).toBeCloseTo(10_000 - 2_400.5 - 1 / 3, 6);
  expect(one?.perDay).toBeCloseTo(24, 0);
});

it('a figure of today counts what was used since midnight, and one of tomorrow nothing', async () => {
  const shop = new Shop();
  shop.own = { one: { amount: 5, as_of: '2026-04-11' }, other: { amount: 5, as_of: '2026-04-12' } };
  expect(shop.now).toBe(Date.parse('2026-04-11T00:30:00Z'));
  const [today, tomorrow] = await readConfiguredBalances(shop.host);
  expect(today?.amount).toBe(4.5);
  expect(tomorrow?.amount).toBe(5);
});
