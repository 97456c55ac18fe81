import { bounds } from '#core/platform/bounds.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { createGrowingCache } from '#core/platform/memory/growing-cache.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { BatchLoader } from './batch-loader.ts';

const digestRetentionDays = 90;
const deadlineMs = 1_000; // maximum time that a caller with a rejected key waits for the reason
const cacheTtlMs = 60_000; // clients often retry rejected requests

/** Finds out when keys were replaced. A lookup needs the old key's digest, so only someone who has the key can make one. */
export class ReplacedKeys {
  readonly #loader: BatchLoader<Date>;
  // By digest; false if that key was not replaced.
  readonly #cache = createGrowingCache<Date | false>(bounds.unknownKeys, { ttl: cacheTtlMs });

  constructor(database: Queries) {
    this.#loader = new BatchLoader((digests) => readReplacements(database, digests));
  }

  /** Returns when the first replaced key among these was replaced; undefined if none was, or if the lookup fails or takes too long. */
  async findReplacementTime(digests: readonly string[]): Promise<Date | undefined> {
    const lookups = Promise.all(digests.map((digest) => this.#lookUp(digest)));
    // Best effort: if the lookup fails, the key is rejected without a reason.
    const times: readonly (Date | false)[] = await withDeadline(
      lookups,
      deadlineMs,
      'the database did not answer',
    ).catch(() => []);
    return times.find((time): time is Date => time !== false);
  }

  async #lookUp(digest: string): Promise<Date | false> {
    const cached = this.#cache.get(digest);
    if (cached !== undefined) return cached;
    const replacedAt = (await this.#loader.load(digest)) ?? false;
    this.#cache.set(digest, replacedAt);
    return replacedAt;
  }
}

async function readReplacements(database: Queries, digests: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  const rows = await database.query<{ digest: string; rotated_at: number }>(
    `select encode(former_sha256, 'hex') as digest, ${epoch('rotated_at')} as rotated_at from api_key
     where former_sha256 in (select decode(value, 'hex') from json_array_elements_text(?::json))
       and rotated_at > clock_timestamp() - make_interval(days => ?)`,
    [JSON.stringify(digests), digestRetentionDays],
  );
  return new Map(rows.map(({ digest, rotated_at: rotatedAt }) => [digest, new Date(rotatedAt)]));
}

export async function clearReplacedDigests(database: Queries): Promise<void> {
  await database.query(
    `update api_key set former_sha256 = null
     where former_sha256 is not null and rotated_at <= clock_timestamp() - make_interval(days => ?)`,
    [digestRetentionDays],
  );
}
