import { hash, randomBytes, randomUUIDv7 } from 'node:crypto';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type Row, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import type { OperatorToken } from './entities.ts';

/** `read` allows reading; `act` also allows actions. */
export type Scope = 'read' | 'act';

export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | undefined;
  readonly revokedAt: Date | undefined;
}

/** Returns the token, which cannot be read again, or undefined if the name is taken. */
export async function createToken(
  database: Queries,
  { name, scope, days }: { readonly name: string; readonly scope: Scope; readonly days: number },
): Promise<string | undefined> {
  const token = `op_${randomBytes(32).toString('base64url')}`;
  const inserted = await database.query<unknown>(
    `insert into operator_token (id, name, sha256, scope, expires_at)
     values (?, ?, decode(?, 'hex'), ?, clock_timestamp() + make_interval(days => ?))
     on conflict (name) do nothing returning 1`,
    [randomUUIDv7(), name, hash('sha256', token), scope, days],
  );
  return inserted.length > 0 ? token : undefined;
}

/** @param after id of the last token of the previous page */
export async function listTokens(database: Queries, limit: number, after?: string): Promise<TokenRecord[]> {
  const rows = await database.query<RowOf<TokenRecord, typeof OperatorToken>>(
    `select id, name, scope, ${epochs('created_at', 'expires_at', 'last_used_at', 'revoked_at')}
     from operator_token
     where ?::uuid is null or (operator_token.created_at, id) < (select t.created_at, t.id from operator_token t where t.id = ?::uuid)
     order by operator_token.created_at desc, id desc limit ?`,
    [after ?? null, after ?? null, limit],
  );
  return rows.map(toRecord);
}

/** Returns false if no active token has this name. */
export async function revokeToken(database: Queries, name: string): Promise<boolean> {
  const revoked = await database.query<unknown>(
    'update operator_token set revoked_at = clock_timestamp() where name = ? and revoked_at is null returning 1',
    [name],
  );
  return revoked.length > 0;
}

/** Finds the active token that a request presents, and records its use. */
export async function useToken(
  database: Queries,
  token: string,
): Promise<Pick<TokenRecord, 'id' | 'name' | 'scope'> | undefined> {
  const [row] = await database.query<Row<typeof OperatorToken, 'id' | 'name' | 'scope'>>(
    `update operator_token set last_used_at = clock_timestamp()
     where sha256 = decode(?, 'hex') and revoked_at is null and expires_at > clock_timestamp() returning id, name, scope`,
    [hash('sha256', token)],
  );
  return row;
}
