import { randomBytes } from 'node:crypto';
import type { Queries } from './database.ts';
import type { Row } from './rows.ts';
import type { Secret } from './secret-entity.ts';

/**
 * Reads a random secret of 256 bits in base64url, which is created on first use and shared by all instances on the database. Use it only
 * for short-lived data, such as the cookie between a sign-in provider and its callback, because everyone with read access to the database
 * can read it.
 */
export async function readSecret(database: Queries, name: string): Promise<string> {
  await database.query('insert into secret (name, value) values (?, ?) on conflict (name) do nothing', [
    name,
    randomBytes(32).toString('base64url'),
  ]);
  const [row] = await database.query<Row<typeof Secret, 'value'>>('select value from secret where name = ?', [name]);
  if (row === undefined) throw new Error(`the secret ${name} was deleted while it was being created`);
  return row.value;
}
