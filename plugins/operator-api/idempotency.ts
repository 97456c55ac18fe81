import { createHash } from 'node:crypto';
import type { Queries } from '#core/platform/database/database.ts';

export interface ApiResponse {
  readonly status: number;
  readonly body: object;
}

type EarlierCall = 'other call' | 'not finished' | ApiResponse;

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
): Promise<EarlierCall | undefined> {
  const digest = createHash('sha256').update(JSON.stringify(call)).digest('hex');
  const inserted = await database.query<unknown>(
    `insert into operator_call (token_id, key, sha256) values (?, ?, decode(?, 'hex')) on conflict do nothing returning 1`,
    [tokenId, key, digest],
  );
  if (inserted.length > 0) return undefined;
  const [earlier] = await database.query<{ digest: string; status: number | null; answer: string | null }>(
    `select encode(sha256, 'hex') as digest, status, answer from operator_call where token_id = ? and key = ?`,
    [tokenId, key],
  );
  if (earlier === undefined) return 'not finished'; // a failed call has just released the key
  if (earlier.digest !== digest) return 'other call';
  if (earlier.status === null) return 'not finished';
  return { status: earlier.status, body: JSON.parse(earlier.answer ?? '{}') };
}

/** Stores the response for repeated calls. After an internal failure, releases the key instead, so that the call can be retried. */
export async function finishKey(database: Queries, tokenId: string, key: string, response: ApiResponse): Promise<void> {
  if (response.status >= 500) {
    await database.query('delete from operator_call where token_id = ? and key = ?', [tokenId, key]);
    return;
  }
  await database.query('update operator_call set status = ?, answer = ? where token_id = ? and key = ?', [
    response.status,
    JSON.stringify(response.body),
    tokenId,
    key,
  ]);
}

export async function removeOldCalls(database: Queries): Promise<void> {
  await database.query(`delete from operator_call where created_at < clock_timestamp() - interval '1 day'`);
}
