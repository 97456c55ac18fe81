import { randomUUIDv7 } from 'node:crypto';
import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { keyDigest } from '#core/gateway/model-call/key-digest.ts';
import { LookupFailed, queryVendor } from '#core/gateway/model-call/vendor-lookup.ts';
import { balancesSection } from './section.ts';
import { endpointOf, type ReportedBalance } from './vendor-balances.ts';

/** Maximum bytes of a response. */
const maxAnswerBytes = 65_536;
/** Maximum number of keys that one run looks up. */
const maxKeys = 200;
/** Concurrent look-ups. */
const atOnce = 4;
const keptDays = 60;

/** A key whose vendor can report the balance. */
interface AskedKey {
  readonly digest: string;
  readonly key: string;
  readonly upstream: Upstream;
}

/** Lists each key once, even if several upstreams at a host share it. */
export function askedKeys({ catalog }: Pick<Host, 'catalog'>): AskedKey[] {
  const asked = catalog.upstreams
    .filter((upstream) => upstream.isEnabled && !upstream.isDemo && endpointOf(upstream) !== undefined)
    .flatMap((upstream) => upstream.apiKeys.map((key) => ({ digest: keyDigest(upstream, key), key, upstream })));
  return [...new Map(asked.map((one) => [one.digest, one])).values()].slice(0, maxKeys);
}

type AskingHost = Pick<Host, 'catalog' | 'database' | 'log' | 'section' | 'now'>;

/** Asks for the balance of every key, and records each vendor's answer or the reason for its absence. */
export async function askVendors(host: AskingHost): Promise<void> {
  const { database, now } = host;
  if (host.section(balancesSection).ask) {
    const waiting = askedKeys(host);
    const work = async () => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await ask(host, one);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
  await database.query('delete from balance_reading where read_at < ?', [new Date(now() - keptDays * 86_400_000)]);
}

async function ask(host: AskingHost, { digest, key, upstream }: AskedKey): Promise<void> {
  const store = ({ amount, currency, isAvailable }: Partial<ReportedBalance>, error?: string) =>
    host.database.query(
      `insert into balance_reading (id, digest, read_at, amount, currency, is_available, error) values (?, ?, ?, ?, ?, ?, ?)`,
      [
        randomUUIDv7(),
        digest,
        new Date(host.now()),
        amount ?? null,
        currency?.replaceAll('\0', '').slice(0, 8) ?? null,
        isAvailable ?? null,
        error ?? null,
      ],
    );
  const endpoint = endpointOf(upstream);
  if (endpoint === undefined) return;
  try {
    // All these endpoints take a bearer token, even if model calls send the key in another header.
    const answer = await queryVendor({ ...upstream, auth: 'bearer' }, key, endpoint.path, maxAnswerBytes);
    const balance = endpoint.read(answer, new URL(upstream.baseUrl).hostname);
    await (balance === undefined ? store({}, 'no balance for this key') : store(balance));
  } catch (error) {
    if (!(error instanceof LookupFailed)) throw error;
    host.log.warn(`upstream ${upstream.name} does not tell its balance: ${error.message}`);
    await store({}, error.message);
  }
}
