import type { Service } from '#core/gateway/host/host.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { epochs, type Row, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import { AccountError } from './account-error.ts';
import type { AccountRecord } from './account-record.ts';
import { findAccount } from './accounts.ts';
import { isApiKey } from './api-key.ts';
import { findAccountByEndUserId, isEndUserId } from './end-user-id.ts';
import type { Account } from './entities.ts';
import { periodsInForceSql } from './periods-in-force.ts';

export interface AccountSummary extends Pick<AccountRecord, 'id' | 'name' | 'email' | 'requestCount' | 'createdAt'> {
  readonly hint: string | undefined;
  readonly state: AccountState;
  readonly endsAt: Date | undefined; // end of the last period; undefined if there never was a period
}

/**
 * `active`: has paid time now or later. `inactive`: has none. `paused`: by its owner. `blocked`: by an operator. `deleted`: has no personal
 * data.
 */
export const accountStates = ['active', 'inactive', 'paused', 'blocked', 'deleted'] as const;

export type AccountState = (typeof accountStates)[number];

interface AccountQuery {
  /** Part of the name or email address (case is ignored), or a whole id, key hint or pseudonym at vendors. */
  readonly words?: string | undefined;
  readonly state?: AccountState | undefined;
  readonly after?: string | undefined; // id of the last account on the previous page
  readonly limit: number;
}

/** Lists accounts, newest first. */
export async function listAccounts(
  database: Queries,
  { words, state, after, limit }: AccountQuery,
): Promise<AccountSummary[]> {
  const accountId =
    words !== undefined && isEndUserId(words) ? await findAccountByEndUserId(database, words) : undefined;
  const text = accountId ?? words;
  const rows = await database.query<RowOf<AccountSummary, typeof Account>>(
    `with found as (
       select a.id, a.name, a.email, k.hint, a.request_count::float8 as request_count, a.created_at, p.ends_at,
         case when a.deleted_at is not null then 'deleted' when a.paused_at is not null then 'paused'
           when a.blocked_at is not null then 'blocked'
           when p.ends_at > clock_timestamp() then 'active' else 'inactive' end as state
       from account a left join api_key k on k.account_id = a.id
         left join lateral (select max(ends_at) as ends_at from ${periodsInForceSql} p where p.account_id = a.id) p on true
     )
     select id, name, email, hint, request_count, state,
       ${epochs('created_at', 'ends_at')}
     from found
     where (?::text is null or state = ?)
       and (?::uuid is null or id < ?::uuid)
       and (?::text is null or position(lower(?) in lower(name)) > 0 or position(lower(?) in lower(email)) > 0
         or id::text = lower(?) or hint = replace(?, '...', '…'))
     order by id desc limit ?`,
    [state, state, after, after, text, text, text, text, text, limit].map((value) => value ?? null),
  );
  return rows.map(toRecord);
}

/**
 * Finds an account by its id, email address, key, key hint, full name or pseudonym at vendors. Case is ignored.
 *
 * @throws AccountError `not_found`, `ambiguous`
 */
export async function findAccountByHandle(
  { database, service }: { readonly database: Queries; readonly service: Pick<Service, 'prefix'> },
  handle: string,
): Promise<AccountRecord> {
  const accountId = isEndUserId(handle) ? await findAccountByEndUserId(database, handle) : undefined;
  if (accountId !== undefined) return findAccount(database, accountId);
  const isName = !uuid.test(handle) && !isApiKey(handle, service.prefix) && !/[@…]|\.{3}/.test(handle);
  if (!isName) return findAccount(database, handle);
  const rows = await database.query<Row<typeof Account, 'id'>>(
    'select id from account where lower(name) = lower(?) limit 20',
    [handle],
  );
  const [id, ...otherIds] = rows.map((row) => row.id);
  if (id === undefined)
    throw new AccountError(
      'not_found',
      `No account has the name ${handle}. Search with: daypass account find ${handle}`,
    );
  if (otherIds.length === 0) return findAccount(database, id);
  const ids = [id, ...otherIds].join(', ');
  throw new AccountError('ambiguous', `Several accounts have the name ${handle}. Pass one of these ids: ${ids}`);
}
