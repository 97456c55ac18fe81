import type { Queries } from '#core/platform/database/database.ts';

const pageSize = 200;

const orderCondition = 'order_id in (select id from plan_order where account_id = ?)';

/** Tables without a column `account_id`, with the condition of an account's rows. */
const linkedTables: Readonly<Record<string, string>> = {
  payment_attempt: orderCondition,
  payment: orderCondition,
  refund: orderCondition,
  order_flag: orderCondition,
  payment_notification:
    'reference in (select reference from payment_attempt a join plan_order o on o.id = a.order_id where o.account_id = ?)',
  account_event: `payload ->> 'accountId' = ?::text`,
  operator_action: 'subject = ?::text',
  request_content: '(started_at, id) in (select started_at, id from request_log where account_id = ?)',
};

/**
 * Exports everything in the database about an account, as the lines of one JSON object with a member for each table. Includes plugins'
 * tables, found by their column `account_id`. Leaves out columns of type `bytea`, which contain digests of keys and sessions.
 */
export async function* exportAccount(database: Queries, accountId: string): AsyncGenerator<string> {
  yield '{';
  yield `"exported_at": ${JSON.stringify(new Date().toISOString())},`;
  yield* exportTable(database, 'account', 'id = ?', accountId);
  const accountTables = (await findAccountTables(database)).map((table) => [table, 'account_id = ?'] as const);
  for (const [table, condition] of [...accountTables, ...Object.entries(linkedTables)]) {
    yield ',';
    yield* exportTable(database, table, condition, accountId);
  }
  yield '}';
}

async function findAccountTables(database: Queries): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `select c.relname as name from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped
     where c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('account')) and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Exports the rows of one table, page by page.
 *
 * @param table name of an existing table, never user input
 */
async function* exportTable(
  database: Queries,
  table: string,
  condition: string,
  accountId: string,
): AsyncGenerator<string> {
  const { columns, key, types } = await readShape(database, table);
  yield `"${table}": [`;
  let count = 0;
  let lastKey: readonly string[] | undefined;
  for (;;) {
    // The first comparison lets PostgreSQL prune partitions. Not jsonb, which rejects some texts that JSON allows.
    const values = types.map((type) => `?::${type}`);
    const afterKey =
      lastKey === undefined ? '' : `and ${key[0]} >= ${values[0]} and (${key.join(', ')}) > (${values.join(', ')})`;
    const rows = await database.query<{ key: readonly string[]; row: string }>(
      `select array[${key.map((name) => `${name}::text`).join(', ')}] as key,
         (select row_to_json(r) from (select ${columns}) r)::text as row
       from "${table}" t where ${condition} ${afterKey} order by ${key.join(', ')} limit ?`,
      [accountId, ...(lastKey === undefined ? [] : [lastKey[0], ...lastKey]), pageSize],
    );
    for (const { row } of rows) yield (count++ > 0 ? ',' : '') + row;
    lastKey = rows.at(-1)?.key;
    if (rows.length < pageSize) break;
  }
  yield ']';
}

interface TableShape {
  readonly columns: string;
  /** Columns that order the rows: the primary key, or `ctid` in a table without one. */
  readonly key: readonly string[];
  /** Types of the key's columns. */
  readonly types: readonly string[];
}

async function readShape(database: Queries, table: string): Promise<TableShape> {
  const keyFilter = 'filter (where a.attnum = any(i.indkey))';
  const [shape] = await database.query<{ [Name in keyof TableShape]: TableShape[Name] | null }>(
    `select string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where a.atttypid <> 'bytea'::regtype) as columns,
       array_agg(quote_ident(a.attname) order by array_position(i.indkey::int2[], a.attnum)) ${keyFilter} as key,
       array_agg(format_type(a.atttypid, a.atttypmod) order by array_position(i.indkey::int2[], a.attnum)) ${keyFilter} as types
     from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
     where a.attrelid = ?::regclass and a.attnum > 0 and not a.attisdropped`,
    [table],
  );
  return { columns: shape?.columns ?? '*', key: shape?.key ?? ['ctid'], types: shape?.types ?? ['tid'] };
}
