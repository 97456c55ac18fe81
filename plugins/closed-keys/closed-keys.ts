import { randomUUIDv7 } from 'node:crypto';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { ReportedClosure } from '#core/gateway/model-call/key-closures.ts';
import { digestKey } from '#core/gateway/model-call/key-digest.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';

declare module '#core/gateway/events/events.ts' {
  interface EventTypes {
    /** A vendor has closed one of the operator's API keys, or the account behind it. */
    'key.closed': { readonly closedKeyId: string };
  }
}

/** PostgreSQL channel that notifies every instance when a key is closed, tried again or accepted. */
export const closedKeyChannel = 'daypass_closed_key';
const retryDays = 1;

export const retryDelayMs = retryDays * 86_400_000;
const forgottenAfterDays = 7; // after `retry_at`, for a key that gateway.yaml no longer has
const maxWordsLength = 300;

interface StoredClosure {
  readonly id: string;
  readonly digest: string;
  readonly upstream: string;
  readonly vendor: string;
  readonly part: 'key' | 'account';
  readonly words: string;
  readonly source: string;
  readonly closedAt: number; // epoch ms
  readonly retryAt: number; // epoch ms
  readonly left: number; // ms by the database's clock until a request may try the key; zero or negative if it may now
  readonly refusals: number;
}

export interface ClosedKey extends StoredClosure {
  /** `key 2 of 3`, once per upstream that has the key. */
  readonly places: readonly { readonly upstream: string; readonly position: number; readonly of: number }[];
}

/** Includes closures of keys that gateway.yaml no longer has. */
export async function readClosures(database: Queries): Promise<StoredClosure[]> {
  return database.query<StoredClosure>(
    `select id, digest, upstream, vendor, part, words, source, refusals, ${epoch('closed_at')} as "closedAt",
       ${epoch('retry_at')} as "retryAt", ${epoch('retry_at')} - ${epoch('clock_timestamp()')} as left
     from closed_key order by closed_at limit 1000`,
  );
}

export async function listClosedKeys({ database, catalog }: Pick<Host, 'database' | 'catalog'>): Promise<ClosedKey[]> {
  const closures = await readClosures(database);
  if (closures.length === 0) return [];
  const places = findPlacesByDigest(catalog);
  return closures.flatMap((closure) => {
    const keyPlaces = places.get(closure.digest) ?? [];
    return keyPlaces.length === 0 ? [] : [{ ...closure, places: keyPlaces }];
  });
}

function findPlacesByDigest(catalog: Host['catalog']): Map<string, ClosedKey['places'][number][]> {
  const places = new Map<string, ClosedKey['places'][number][]>();
  for (const upstream of catalog.upstreams) {
    const keys = upstream.apiKeys.length > 0 ? [...new Set(upstream.apiKeys)] : [''];
    for (const [index, key] of keys.entries()) {
      const digest = digestKey(upstream, key);
      const place = { upstream: upstream.name, position: index + 1, of: keys.length };
      places.set(digest, [...(places.get(digest) ?? []), place]);
    }
  }
  return places;
}

/** Closures are kept for a week after they are due, because another instance may run with a different file. */
export async function deleteOldClosures({ database, catalog }: Pick<Host, 'database' | 'catalog'>): Promise<void> {
  const configuredDigests = [...findPlacesByDigest(catalog).keys(), ''];
  await database.query(
    `delete from closed_key where digest not in (?) and retry_at < clock_timestamp() - ? * interval '1 day'`,
    [configuredDigests, forgottenAfterDays],
  );
}

/** @returns true if the key was not closed before */
export function storeClosure(
  { database }: Pick<Host, 'database'>,
  digest: string,
  { upstream, rule: closing, message }: Pick<ReportedClosure, 'upstream' | 'rule' | 'message'>,
): Promise<boolean> {
  return database.fork().transactional(async (transaction) => {
    const [row] = await transaction.execute<{ id: string; is_new: boolean }[]>(
      `insert into closed_key as known (id, digest, upstream, vendor, part, words, source, closed_at, retry_at)
       select ?, ?, ?, ?, ?, ?, ?, now, now + ? * interval '1 day' from (select clock_timestamp() as now) as clock
       on conflict (digest) do update set retry_at = excluded.retry_at, words = excluded.words, refusals = known.refusals + 1
       returning id, xmax = 0 as is_new`,
      [
        randomUUIDv7(),
        digest,
        upstream,
        closing.vendor,
        closing.part,
        message.replaceAll('\0', '').slice(0, maxWordsLength),
        closing.source,
        retryDays,
      ],
    );
    if (row === undefined) return false;
    if (row.is_new) await recordEvent(transaction, 'key.closed', { closedKeyId: row.id }, `key.closed:${row.id}`);
    await transaction.execute('select pg_notify(?, ?)', [closedKeyChannel, digest]);
    return row.is_new;
  });
}

export async function removeClosure({ database }: Pick<Host, 'database'>, digest: string): Promise<boolean> {
  const rows = await database.query(
    `with gone as (delete from closed_key where digest = ? returning digest)
     select pg_notify(?, digest) from gone`,
    [digest, closedKeyChannel],
  );
  return rows.length > 0;
}

/** Lets the next request on any instance try the key. */
export async function retryClosure({ database }: Pick<Host, 'database'>, id: string): Promise<boolean> {
  const rows = await database.query(
    `with tried as (update closed_key set retry_at = clock_timestamp() where id = ? returning digest)
     select pg_notify(?, digest) from tried`,
    [id, closedKeyChannel],
  );
  return rows.length > 0;
}
