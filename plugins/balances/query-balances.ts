import { randomUUIDv7 } from 'node:crypto';
import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { digestKey } from '#core/gateway/model-call/key-digest.ts';
import { LookupFailed, queryVendor } from '#core/gateway/model-call/vendor-lookup.ts';
import { earlierClockSql } from '#core/platform/database/rows.ts';
import { balancesSection } from './section.ts';
import { findEndpoint, type ReportedBalance } from './vendor-balances.ts';

const maxResponseBytes = 65_536;
const maxKeys = 200;
const concurrency = 4;
const retentionDays = 60;

interface QueryableKey {
  readonly digest: string;
  readonly key: string;
  readonly upstream: Upstream;
}

/** Upstreams at one host may share a key. */
export function listQueryableKeys({ catalog }: Pick<Host, 'catalog'>): QueryableKey[] {
  const keys = catalog.upstreams
    .filter((upstream) => upstream.isEnabled && !upstream.isDemo && findEndpoint(upstream) !== undefined)
    .flatMap((upstream) => upstream.apiKeys.map((key) => ({ digest: digestKey(upstream, key), key, upstream })));
  return [...new Map(keys.map((entry) => [entry.digest, entry])).values()].slice(0, maxKeys);
}

type QueryHost = Pick<Host, 'catalog' | 'database' | 'log' | 'section' | 'now'>;

export async function queryBalances(host: QueryHost): Promise<void> {
  const { database, now } = host;
  if (host.section(balancesSection).ask) {
    // Workers share the list. No `await` separates the check from the removal, so no key is taken twice.
    const remainingKeys = listQueryableKeys(host);
    const queryRemaining = async () => {
      for (let key = remainingKeys.shift(); key !== undefined; key = remainingKeys.shift())
        await queryBalance(host, key);
    };
    await Promise.all(Array.from({ length: concurrency }, queryRemaining));
  }
  await database.query(`delete from balance_reading where read_at < ${earlierClockSql} - make_interval(days => ?)`, [
    new Date(now()),
    retentionDays,
  ]);
}

async function queryBalance(host: QueryHost, { digest, key, upstream }: QueryableKey): Promise<void> {
  const store = ({ amount, currency, isAvailable }: Partial<ReportedBalance>, error?: string) =>
    host.database.query(
      `insert into balance_reading (id, digest, read_at, amount, currency, is_available, error) values (?, ?, ?, ?, ?, ?, ?)`,
      [
        randomUUIDv7(),
        digest,
        new Date(host.now()),
        amount ?? null,
        // Values from the vendor are cleaned: PostgreSQL rejects NUL, and currency codes are short.
        currency?.replaceAll('\0', '').slice(0, 8) ?? null,
        isAvailable ?? null,
        error ?? null,
      ],
    );
  const endpoint = findEndpoint(upstream);
  if (endpoint === undefined) return;
  try {
    // All these endpoints take a bearer token, even if model calls send the key in another header.
    const response = await queryVendor({ ...upstream, auth: 'bearer' }, key, endpoint.path, maxResponseBytes);
    const balance = endpoint.read(response, new URL(upstream.baseUrl).hostname);
    await (balance === undefined ? store({}, 'no balance for this key') : store(balance));
  } catch (error) {
    if (!(error instanceof LookupFailed)) throw error;
    host.log.warn(`upstream ${upstream.name} did not report its balance: ${error.message}`);
    await store({}, error.message);
  }
}
