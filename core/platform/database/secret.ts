import { createHmac, randomBytes } from 'node:crypto';
import { isSameSecret } from '../same-secret.ts';
import type { Queries } from './database.ts';
import type { Row } from './rows.ts';
import type { Secret } from './secret-entity.ts';

/**
 * Reads a random secret of 256 bits in base64url. It is created on first use and shared by all instances on the database. Use it only for
 * short-lived data, such as the cookie between a sign-in provider and its callback, because everyone with read access to the database can
 * read it.
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

/** Computes the signature of a text in a link: its HMAC-SHA-256 with the named secret, in base64url. */
export async function sign(database: Queries, secretName: string, text: string): Promise<string> {
  return createHmac('sha256', await readSecret(database, secretName))
    .update(text)
    .digest('base64url');
}

export async function isSigned(
  database: Queries,
  secretName: string,
  text: string,
  signature: string,
): Promise<boolean> {
  return isSameSecret(signature, await sign(database, secretName, text));
}
