import { createHash } from 'node:crypto';
import type { Database } from '#core/platform/database/database.ts';

type Queries = Pick<Database, 'query'>;

/** Response to an API call. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: object;
}

type Repeated = 'other call' | 'not finished' | ApiAnswer;

/**
 * Claims an idempotency key before its call runs.
 *
 * @param call method, path and body
 * @returns undefined for the first call with this key
 */
export async function claimKey(
  database: Queries,
  tokenId: string,
  key: string,
  call: readonly string[],
): Promise<Repeated | undefined> {
  const digest = createHash('sha256').update(JSON.stringify(call)).digest('hex');
  const claimed = await database.query<unknown>(
    `insert into operator_call (token_id, key, sha256) values (?, ?, decode(?, 'hex')) on conflict do nothing returning 1`,
    [tokenId, key, digest],
  );
  if (claimed.length > 0) return undefined;
  const [earlier] = await database.query<{ digest: string; status: number | null; answer: string | null }>(
    `select encode(sha256, 'hex') as digest, status, answer from operator_call where token_id = ? and key = ?`,
    [tokenId, key],
  );
  if (earlier === undefined) return 'not finished'; // the key was just released by a failed call
  if (earlier.digest !== digest) return 'other call';
  if (earlier.status === null) return 'not finished';
  return { status: earlier.status, body: JSON.parse(earlier.answer ?? '{}') };
}

/** Stores the response for repeated calls. After an internal failure the key is released, so that the call can be retried. */
export async function finishKey(database: Queries, tokenId: string, key: string, answer: ApiAnswer): Promise<void> {
  if (answer.status >= 500)
    await database.query('delete from operator_call where token_id = ? and key = ?', [tokenId, key]);
  else
    await database.query('update operator_call set status = ?, answer = ? where token_id = ? and key = ?', [
      answer.status,
      JSON.stringify(answer.body),
      tokenId,
      key,
    ]);
}

export async function removeOldCalls(database: Queries): Promise<void> {
  await database.query(`delete from operator_call where created_at < clock_timestamp() - interval '1 day'`);
}
