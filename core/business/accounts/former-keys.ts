import { LRUCache } from 'lru-cache';
import { bounds } from '#core/platform/bounds.ts';
import type { Database } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { BatchLoader } from './batch-loader.ts';

const keptDays = 90; // after its replacement

const deadlineMs = 1_000; // a caller whose key is rejected waits no longer for the reason

const knownForMs = 60_000; // tools repeat a rejected request

/** Finds when keys were replaced. Only the holder of an old key can ask for it. */
export class FormerKeys {
  readonly #replacedAt: BatchLoader<Date>;
  /** By digest; false if the key was not replaced. */
  readonly #cache = new LRUCache<string, Date | false>({ max: bounds.unknownKeys, ttl: knownForMs });

  constructor(database: Pick<Database, 'query'>) {
    this.#replacedAt = new BatchLoader((digests) => readReplacements(database, digests));
  }

  /** Replacement time of the first replaced key among these; undefined if there is none, or if the database does not answer. */
  async find(digests: readonly string[]): Promise<Date | undefined> {
    const found = Promise.all(digests.map((digest) => this.#find(digest)));
    const dates: readonly (Date | false)[] = await withDeadline(found, deadlineMs, 'the database did not answer').catch(
      () => [],
    );
    return dates.find((date): date is Date => date !== false);
  }

  async #find(digest: string): Promise<Date | false> {
    const cached = this.#cache.get(digest);
    if (cached !== undefined) return cached;
    const found = (await this.#replacedAt.load(digest)) ?? false;
    this.#cache.set(digest, found);
    return found;
  }
}

async function readReplacements(
  database: Pick<Database, 'query'>,
  digests: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const rows = await database.query<{ digest: string; rotated_at: number }>(
    `select encode(former_sha256, 'hex') as digest, ${epoch('rotated_at')} as rotated_at from api_key
     where former_sha256 in (select decode(value, 'hex') from json_array_elements_text(?::json))
       and rotated_at > clock_timestamp() - make_interval(days => ?)`,
    [JSON.stringify(digests), keptDays],
  );
  return new Map(rows.map(({ digest, rotated_at: time }) => [digest, new Date(time)]));
}

/** Removes the digests of keys that were replaced long ago. */
export async function removeFormerKeys(database: Pick<Database, 'query'>): Promise<void> {
  await database.query(
    `update api_key set former_sha256 = null
     where former_sha256 is not null and rotated_at <= clock_timestamp() - make_interval(days => ?)`,
    [keptDays],
  );
}
