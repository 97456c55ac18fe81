import type pg from 'pg';
import { durableCommits } from './session.ts';

/** Starts a transaction whose commit waits for the disk. */
export const durable = `BEGIN; SELECT ${durableCommits(true)}`;

/**
 * Runs one query in a transaction of its own.
 *
 * @param begin statements that start the transaction
 */
export async function queryWithin(pool: pg.Pool, begin: string, query: BoundQuery): Promise<pg.QueryResult> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query(begin);
    const result = await client.query(query);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    // After a failure, the client is still in a transaction: passing the error closes it.
    client.release(failure);
  }
}

/** Quoted text or names, comments and dollar-quoted bodies, in which question marks are not placeholders. */
const quoted = String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*[^]*?\*/|\$(?<tag>\w*)\$[^]*?\$\k<tag>\$`;
const token = new RegExp(`${quoted}|\\?`, 'g');

interface BoundQuery {
  readonly text: string;
  readonly values: unknown[];
}

/**
 * Replaces `?` with `$1`, `$2` and so on; for a list, with one per element. An empty list becomes `NULL`, so that `IN (?)` matches nothing.
 *
 * @throws Error if the number of parameters does not match the placeholders
 */
export function bind(sql: string, parameters: readonly unknown[]): BoundQuery {
  const values: unknown[] = [];
  let next = 0;
  const text = sql.replace(token, (found) => {
    if (found !== '?') return found;
    const parameter = parameters[next++];
    if (!Array.isArray(parameter)) return `$${values.push(parameter)}`;
    return parameter.map((value) => `$${values.push(value)}`).join(', ') || 'NULL';
  });
  if (next !== parameters.length)
    throw new Error(`a statement with ${next} placeholders got ${parameters.length} parameters`);
  return { text, values };
}
