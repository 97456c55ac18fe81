import type pg from 'pg';
import { enableDurableCommitsSql } from './session.ts';

interface BoundQuery {
  readonly text: string;
  readonly values: unknown[];
}

export const beginDurableSql = `BEGIN; SELECT ${enableDurableCommitsSql(true)}`;

export async function queryInTransaction(pool: pg.Pool, beginSql: string, query: BoundQuery): Promise<pg.QueryResult> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query(beginSql);
    const result = await client.query(query);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    // After a failure, the client is still in a transaction. Passing the error closes its connection.
    client.release(failure);
  }
}

/** Quoted text or names, comments and dollar-quoted bodies, in which question marks are not placeholders. */
const quotedPattern = String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*[^]*?\*/|\$(?<tag>\w*)\$[^]*?\$\k<tag>\$`;
const placeholderOrQuoted = new RegExp(`${quotedPattern}|\\?`, 'g');

/**
 * Replaces each `?` with `$1`, `$2` and so on, and the `?` of a list with one placeholder per element. An empty list becomes `NULL`, so
 * that `IN (?)` matches nothing. Operators with a question mark, texts with `\'` (as in `E'…'`) and nested comments are not supported.
 *
 * @throws Error if the number of parameters does not match the placeholders
 */
export function bindParameters(sql: string, parameters: readonly unknown[]): BoundQuery {
  const values: unknown[] = [];
  let parameterIndex = 0;
  const text = sql.replace(placeholderOrQuoted, (match) => {
    if (match !== '?') return match;
    const parameter = parameters[parameterIndex++];
    if (!Array.isArray(parameter)) return `$${values.push(parameter)}`;
    return parameter.map((value) => `$${values.push(value)}`).join(', ') || 'NULL';
  });
  if (parameterIndex !== parameters.length)
    throw new Error(`a statement with ${parameterIndex} placeholders got ${parameters.length} parameters`);
  return { text, values };
}
