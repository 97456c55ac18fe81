import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Database } from '#core/platform/database/database.ts';
import type { ExperimentContext } from '../chaos/figure.ts';
import { type GatewayHome, openGatewayHome } from '../support/gateway-home.ts';
import { copyDatabase, execute, withDatabase } from '../support/global-postgres.ts';
import { startRedis } from '../support/global-redis.ts';
import { Bank, type BankHabits } from './bank.ts';

const yaml = `
pipeline: [auth, plan, rate-limit: { limit: 100, period: 60, burst: 100 }, format, upstream, log]
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] } }
plugins: [./bank.mjs]
plans: [{ days: 7, price: 95000 }, { days: 30, price: 289000 }]
payments: { provider: bank }
seller: { name: Soak Seller, address: Jakarta, tax: { name: PPN, rate: 12, base: 11/12 } }
`;

/** A bank, and what gateways that sell through it are started with. */
export interface Shop {
  readonly home: GatewayHome;
  readonly bank: Bank;
  readonly environment: Record<string, string>;
}

/** @param rate calls a second that the bank documents; left out: it documents none */
export async function openShop(
  stack: AsyncDisposableStack,
  { postgres }: Pick<ExperimentContext, 'postgres'>,
  { rate, ...habits }: BankHabits & { readonly rate?: number | undefined } = {},
): Promise<Shop> {
  const redis = await startRedis();
  if (redis === undefined) throw new Error('two gateways on one database need Redis: install redis-server');
  stack.use(redis);
  const name = `daypass_soak_${randomBytes(6).toString('hex')}`;
  await copyDatabase(postgres.url, postgres.templateDatabase, name);
  stack.defer(() => execute(postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  const home = stack.use(await openGatewayHome(withDatabase(postgres.url, name), yaml));
  const plugin = pathToFileURL(join(import.meta.dirname, 'bank-plugin.ts')).href;
  await writeFile(join(home.folder, 'bank.mjs'), `export { plugin } from '${plugin}';\n`);
  const bank = stack.use(await Bank.open(habits));
  const environment = { REDIS_URL: redis.url, SOAK_BANK: bank.url, SOAK_RATE: rate === undefined ? '' : String(rate) };
  return { home, bank, environment };
}

export async function insertAccounts(database: Database, count: number): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `insert into account (id, name) select gen_random_uuid(), 'Soak' from generate_series(1, ?) returning id`,
    [count],
  );
  return rows.map(({ id }) => id);
}

/** An order that can be paid, or what the last try to make one got. */
export type Made = { readonly id: string; readonly reference: string } | { readonly failure: string };

/** Ms for which a buyer tries: two crashes, one after the other, must not cost him his order. */
const endurance = 180_000;

/**
 * Orders as a buyer whose page was not answered would: again, at another gateway, until there is something to pay.
 *
 * @param pause ms between two tries
 */
export async function orderPlan(
  { gateways }: Bank,
  order: { readonly accountId: string; readonly days: number },
  pause: number,
): Promise<Made> {
  const until = performance.now() + endurance;
  let failure = 'no gateway runs';
  for (let tries = 0; performance.now() < until; tries++) {
    const gateway = gateways[tries % Math.max(1, gateways.length)];
    try {
      const response = await fetch(`${gateway}/soak/orders`, {
        method: 'POST',
        body: JSON.stringify(order),
        headers: { 'content-type': 'application/json' },
        signal: AbortSignal.timeout(15_000),
      });
      const text = await response.text();
      const made = (response.ok ? JSON.parse(text) : {}) as { id?: string; reference?: string };
      if (made.id !== undefined && made.reference !== undefined) return { id: made.id, reference: made.reference };
      failure = `${response.status} ${text}`;
    } catch (error) {
      // The gateway has been killed.
      failure = String(error);
    }
    await setTimeout(pause);
  }
  return { failure };
}
