import type { Database } from '#core/platform/database/database.ts';
import { removeUsage } from '#core/gateway/records/fold-usage.ts';
import { lockAccount } from './ledger.ts';
import { everyPersonalTable, type PersonalColumn, type PersonalTable, quoteName } from './personal-tables.ts';
import type { Row } from '#core/platform/database/rows.ts';
import type { Account } from './entities.ts';

const batchSize = 500;

type Execute = (sql: string, parameters: readonly unknown[]) => Promise<readonly unknown[]>;

/**
 * Removes the personal columns of an account from every table that has some, including tables of removed capabilities: name, e-mail
 * address, picture, ways to sign in, sessions, the key, stored responses, the content, addresses and user agents of its requests, and its
 * hourly usage. Orders, payments, the ledger and the number of its requests stay under its id. Its key is rejected within a second;
 * remaining time is lost.
 *
 * Can be run again: after a failure, and for records that have arrived since.
 *
 * @throws AccountError `not_found`
 */
export async function deleteAccount(database: Pick<Database, 'fork' | 'query'>, accountId: string): Promise<void> {
  const tables = (await childrenFirst(database)).filter(({ isBound }) => isBound);
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    await transaction.execute('update account set deleted_at = coalesce(deleted_at, clock_timestamp()) where id = ?', [
      accountId,
    ]);
    const execute: Execute = (sql, parameters) => transaction.execute<unknown[]>(sql, [...parameters]);
    for (const table of tables) await clean(execute, table, accountId);
  });
  await cleanRecords(database, accountId);
}

/**
 * Removes the personal columns of rows that may be written after their account was deleted, and its hourly usage. Records arrive later than
 * their requests, so this is repeated for some days.
 */
export async function cleanRecords(database: Pick<Database, 'fork' | 'query'>, accountId: string): Promise<void> {
  const execute: Execute = (sql, parameters) => database.query(sql, parameters);
  for (const table of await childrenFirst(database)) if (!table.isBound) await clean(execute, table, accountId);
  await removeUsage(database, accountId);
}

/** Rows that reach their account through other rows must be found, and cleaned, before those. */
async function childrenFirst(database: Pick<Database, 'fork' | 'query'>): Promise<PersonalTable[]> {
  return (await everyPersonalTable(database)).toSorted((first, second) => depthOf(second) - depthOf(first));
}

function depthOf({ ofAccount }: PersonalTable): number {
  return ofAccount.split('(select ').length;
}

async function clean(execute: Execute, table: PersonalTable, accountId: string): Promise<void> {
  const { ofAccount, removal } = table;
  if (removal === 'none') return;
  const columns = table.columns.filter(({ isRetained }) => isRetained !== true);
  const name = quoteName(table.name);
  const key = table.key.map(quoteName).join(', ');
  const isUnclean = columns.map(uncleanIn).join(' or ');
  const batch = `select ${key} from ${name}
    where ${ofAccount} ${removal === 'update' ? `and (${isUnclean})` : ''} limit ${batchSize}`;
  const change =
    removal === 'delete'
      ? `delete from ${name} where`
      : `update ${name} set ${columns.map((column) => `${quoteName(column.name)} = ${replacementOf(column)}`).join(', ')} where`;
  const statement = `${change} (${key}) in (${batch}) returning 1`;
  let cleaned = batchSize;
  while (cleaned === batchSize) cleaned = (await execute(statement, [accountId])).length;
}

function uncleanIn({ name, replacement }: PersonalColumn): string {
  const column = quoteName(name);
  return replacement === undefined ? `${column} is not null` : `${column} <> '${replacement}'`;
}

/** Null stays null: there was nothing to remove. */
function replacementOf({ name, replacement }: PersonalColumn): string {
  return replacement === undefined ? 'null' : `case when ${quoteName(name)} is not null then '${replacement}' end`;
}

/** Returns accounts deleted within this many days. */
export async function recentlyDeleted(database: Pick<Database, 'query'>, days: number): Promise<string[]> {
  const rows = await database.query<Row<typeof Account, 'id'>>(
    'select id from account where deleted_at > clock_timestamp() - make_interval(days => ?)',
    [days],
  );
  return rows.map(({ id }) => id);
}
