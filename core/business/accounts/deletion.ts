import { removeUsage } from '#core/gateway/records/fold-usage.ts';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { quoteName, type Row } from '#core/platform/database/rows.ts';
import type { Account } from './entities.ts';
import { lockAccount } from './ledger.ts';
import { readPersonalTables, type PersonalColumn, type PersonalTable } from './personal-tables.ts';

const batchSize = 500;

type RunStatement = (sql: string, parameters: readonly unknown[]) => Promise<readonly unknown[]>;

/**
 * Deletes an account's personal data. Can be run again after a failure, or if more records have arrived since.
 *
 * - Removes its name, email address, picture, sign-ins, sessions, key, stored responses and hourly usage, and the content, addresses and
 *   user agents of its requests: the personal columns of all tables, including those of removed plugins.
 * - Keeps its orders, payments, ledger and number of requests, under its id.
 * - Its key is rejected within a second, and its remaining time is lost.
 *
 * @throws AccountError `not_found`
 */
export async function deleteAccount(database: Queries & Transactions, accountId: string): Promise<void> {
  // Rows of bound tables are written only while their account exists, so one transaction is enough for them.
  const boundTables = (await listChildrenFirst(database)).filter(({ isBound }) => isBound);
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    await transaction.execute('update account set deleted_at = coalesce(deleted_at, clock_timestamp()) where id = ?', [
      accountId,
    ]);
    const run: RunStatement = (sql, parameters) => transaction.execute<unknown[]>(sql, [...parameters]);
    for (const table of boundTables) await removePersonalColumns(run, table, accountId);
  });
  await removeLateRecords(database, accountId);
}

/**
 * Removes an account's hourly usage, and the personal columns of rows that may be written after it was deleted. Must be rerun for several
 * days after the deletion, because records can arrive long after their requests.
 */
export async function removeLateRecords(database: Queries & Transactions, accountId: string): Promise<void> {
  const run: RunStatement = (sql, parameters) => database.query(sql, parameters);
  for (const table of await listChildrenFirst(database))
    if (!table.isBound) await removePersonalColumns(run, table, accountId);
  await removeUsage(database, accountId);
}

async function listChildrenFirst(database: Queries & Transactions): Promise<PersonalTable[]> {
  // A child's rows are found through its parent's rows.
  return (await readPersonalTables(database)).toSorted((first, second) => countParents(second) - countParents(first));
}

function countParents({ ofAccount }: PersonalTable): number {
  // `findOwnerCondition` nests one query for each parent.
  return ofAccount.split('(select ').length - 1;
}

async function removePersonalColumns(run: RunStatement, table: PersonalTable, accountId: string): Promise<void> {
  const { ofAccount: ownerCondition, removal } = table;
  if (removal === 'none') return;
  const columns = table.columns.filter(({ isRetained }) => isRetained !== true);
  const name = quoteName(table.name);
  const key = table.key.map(quoteName).join(', ');
  const { change, condition } =
    removal === 'delete'
      ? { change: `delete from ${name}`, condition: `(${ownerCondition})` }
      : {
          change: `update ${name} set ${columns.map(buildAssignment).join(', ')}`,
          condition: `(${ownerCondition}) and (${columns.map(buildHasDataCondition).join(' or ')})`,
        };
  const selectBatch = `select ${key} from ${name} where ${condition} limit ${batchSize}`;
  const statement = `${change} where (${key}) in (${selectBatch}) returning 1`;
  let changedRows: number;
  do changedRows = (await run(statement, [accountId])).length;
  while (changedRows === batchSize);
}

function buildHasDataCondition({ name, replacement }: PersonalColumn): string {
  const column = quoteName(name);
  return replacement === undefined ? `${column} is not null` : `${column} <> '${replacement}'`;
}

function buildAssignment({ name, replacement }: PersonalColumn): string {
  const column = quoteName(name);
  return `${column} = ${replacement === undefined ? 'null' : `case when ${column} is not null then '${replacement}' end`}`;
}

export async function listRecentlyDeleted(database: Queries, days: number): Promise<string[]> {
  const rows = await database.query<Row<typeof Account, 'id'>>(
    'select id from account where deleted_at > clock_timestamp() - make_interval(days => ?)',
    [days],
  );
  return rows.map(({ id }) => id);
}
