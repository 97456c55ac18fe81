import type { Column } from '#core/gateway/records/column.ts';
import { columns as recordColumns, type RequestRecord } from '#core/gateway/records/columns.ts';
import { readRequests } from '#core/gateway/records/read-requests.ts';
import type { Queries, Transactions } from '#core/platform/database/database.ts';
import { quoteName } from '#core/platform/database/rows.ts';
import { readPersonalTables } from './personal-tables.ts';

const pageSize = 200;

interface ExportedTable {
  readonly name: string;
  readonly ownerCondition: string; // SQL; the only parameter is the account's id
  readonly columns: readonly string[]; // SQL expressions
  readonly keySql: string; // expression of type text
}

/** Excludes routes, provider messages and operator notes. */
const impersonalColumns: Readonly<Record<string, readonly string[]>> = {
  account: ['id', 'created_at', 'request_count'],
  identity: ['provider', 'created_at', 'last_used_at'],
  session: ['created_at', 'last_used_at', 'expires_at'],
  api_key: ['limits', 'created_at', 'rotated_at', 'shown_at'],
  response_store: ['id', 'created_at', 'expires_at'],
};

const orderCondition = 'order_id in (select id from plan_order where account_id = ?)';
const orderCodeSql = '(select code from plan_order o where o.id = t.order_id) as code'; // `readRows` names the table `t`

// None of these columns is personal.
const purchaseTables: readonly ExportedTable[] = [
  definePurchaseTable('plan_period', ['starts_at', 'ends_at', 'days', 'label', 'reason', 'limits', 'created_at']),
  definePurchaseTable('plan_order', [
    'code',
    'days',
    'price',
    'currency',
    'label',
    'is_gift',
    '(select redeemed_at from voucher v where v.order_id = t.id) as gift_redeemed_at',
    'state',
    'created_at',
    'expires_at',
    'paid_at',
  ]),
  definePurchaseTable(
    'payment',
    [orderCodeSql, 'payment_id', 'amount', 'currency', 'paid_at', 'issuer', 'outcome', 'recorded_at'],
    { ownerCondition: orderCondition },
  ),
  definePurchaseTable('refund', [orderCodeSql, 'amount', 'currency', 'state', 'created_at', 'finished_at'], {
    ownerCondition: orderCondition,
    keySql: 'key',
  }),
];

function definePurchaseTable(
  name: string,
  columns: readonly string[],
  {
    ownerCondition = 'account_id = ?',
    keySql = 'id::text',
  }: Partial<Pick<ExportedTable, 'ownerCondition' | 'keySql'>> = {},
): ExportedTable {
  return { name, ownerCondition, columns, keySql };
}

// `readRequestsForOwner` exports `request_log`; `request_content` is only for operators.
const excludedTables: ReadonlySet<string> = new Set(['request_log', 'request_content']);

async function listPersonalTables(database: Queries & Transactions): Promise<ExportedTable[]> {
  return (await readPersonalTables(database))
    .filter(({ name, columns }) => !excludedTables.has(name) && columns.some(({ isHidden }) => !isHidden))
    .map(({ name, ofAccount, key, columns }) => ({
      name,
      ownerCondition: ofAccount,
      columns: [
        ...(impersonalColumns[name] ?? []),
        ...columns.filter(({ isHidden }) => !isHidden).map((column) => quoteName(column.name)),
      ],
      keySql: key.map((column) => `${quoteName(column)}::text`).join(` || ' ' || `),
    }));
}

/**
 * Exports an account's data for its owner, as the lines of one JSON object with a member per table and one for the recorded requests. The
 * export for operators is `exportAccount`.
 */
export async function* exportForOwner(database: Queries & Transactions, accountId: string): AsyncGenerator<string> {
  yield `{"exported_at": ${JSON.stringify(new Date().toISOString())}\n`;
  for (const table of [...(await listPersonalTables(database)), ...purchaseTables]) {
    yield `,${JSON.stringify(table.name)}: [\n`;
    yield* separateRows(readRows(database, table, accountId));
    yield ']\n';
  }
  yield ',"request": [\n';
  yield* separateRows(readRequestsForOwner(database, accountId));
  yield ']}\n';
}

async function* separateRows(rows: AsyncIterable<string>): AsyncGenerator<string> {
  let separator = '';
  for await (const row of rows) {
    yield `${separator}${row}\n`;
    separator = ',';
  }
}

async function* readRows(
  database: Queries & Transactions,
  { name, ownerCondition, columns, keySql }: ExportedTable,
  accountId: string,
): AsyncGenerator<string> {
  let lastKey = '';
  for (;;) {
    // Not jsonb, which rejects some valid JSON strings, such as those with \u0000.
    const rows = await database.query<{ key: string; row: string }>(
      `select ${keySql} as key, (select row_to_json(r) from (select ${columns.join(', ')}) r)::text as row
       from ${quoteName(name)} t where (${ownerCondition}) and ${keySql} > ? order by 1 limit ?`,
      [accountId, lastKey, pageSize],
    );
    for (const { row } of rows) yield row;
    const lastRow = rows.at(-1);
    if (lastRow === undefined || rows.length < pageSize) return;
    lastKey = lastRow.key;
  }
}

async function* readRequestsForOwner(database: Queries & Transactions, accountId: string): AsyncGenerator<string> {
  for await (const record of readRequests(database, { accountId })) yield JSON.stringify(toOwnerView(record));
}

const confidentialColumns = Object.entries<Column<never>>(recordColumns)
  .filter(([, { isConfidential }]) => isConfidential === true)
  .map(([name]) => name);

function toOwnerView(record: RequestRecord): object {
  const visibleMembers: Record<string, unknown> = { ...record, started_at: new Date(record.started_at).toISOString() };
  for (const name of confidentialColumns) delete visibleMembers[name];
  return visibleMembers;
}
