import type { Queries } from '#core/platform/database/database.ts';

const pageSize = 200;

/** Conditions of an account's rows by a column that links them. */
const linkConditions: Readonly<Record<string, string>> = {
  account_id: 'account_id = ?',
  order_id: 'order_id in (select id from plan_order where account_id = ?)',
};

/** Tables without such a column, with the condition of an account's rows. */
const otherTables: Readonly<Record<string, string>> = {
  payment_notification:
    'reference in (select reference from payment_attempt a join plan_order o on o.id = a.order_id where o.account_id = ?)',
  account_event: `payload ->> 'accountId' = ?::text`,
  operator_action: 'subject in (select ?::text union all select id::text from plan_order where account_id = ?)',
  request_content: '(started_at, id) in (select started_at, id from request_log where account_id = ?)',
};

/**
 * Exports everything in the database about an account, as the lines of one JSON object with a member for each table. Includes plugins'
 * tables, found by their columns `account_id` and `order_id`. Leaves out columns of type `bytea`, which contain digests of keys and sessions.
 */
export async function* exportAccount(database: Queries, accountId: string): AsyncGenerator<string> {
  yield '{';
  yield `"exported_at": ${JSON.stringify(new Date().toISOString())},`;
  yield* exportTable(database, 'account', 'id = ?', accountId);
  for (const [table, condition] of [...(await findLinkedTables(database)), ...Object.entries(otherTables)]) {
    yield ',';
    yield* exportTable(database, table, condition, accountId);
  }
  yield '}';
}

async function findLinkedTables(database: Queries): Promise<(readonly [table: string, condition: string])[]> {
  const rows = await database.query<{ name: string; columns: readonly string[] }>(
    `select c.relname as name, json_agg(a.attname order by a.attnum) as columns from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname in (?) and not a.attisdropped
     where c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('account')) and c.relkind in ('r', 'p') and not c.relispartition
     group by c.relname order by bool_or(a.attname = 'account_id') desc, c.relname`,
    [Object.keys(linkConditions)],
  );
  return rows.map(({ name, columns }) => [name, `(${columns.map((column) => linkConditions[column]).join(' or ')})`]);
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
  const ids = Array.from(condition.matchAll(/\?/g), () => accountId);
  yield `"${table}": [`;
  let count = 0;
  let lastKey: readonly string[] | undefined;
  for (;;) {
    // The first comparison lets PostgreSQL prune partitions. Not jsonb, which rejects some texts that JSON allows.
    const values = types.map((type) => `?::${type}`);
    const afterKey =
      lastKey === undefined ? '' : `and ${key[0]} >= ${values[0]} and (${key.join(', ')}) > (${values.join(', ')})`;
    const rows = await database.query<{ key: readonly string[]; row: string }>(
      `select array[${key.map((expression) => `${expression}::text`).join(', ')}] as key,
         (select row_to_json(r) from (select ${columns}) r)::text as row
       from "${table}" t where ${condition} ${afterKey} order by ${key.join(', ')} limit ?`,
      [...ids, ...(lastKey === undefined ? [] : [lastKey[0], ...lastKey]), pageSize],
    );
    for (const { row } of rows) yield (count++ > 0 ? ',' : '') + row;
    lastKey = rows.at(-1)?.key;
    if (rows.length < pageSize) break;
  }
  yield ']';
}

interface TableShape {
  readonly columns: string;
  /**
   * SQL expressions that order the rows and stay the same while a row changes: the primary key, or a unique key, whose nulls come last. Rows
   * of a table without either are ordered by `ctid`, because they never change.
   */
  readonly key: readonly string[];
  /** Types of the expressions. */
  readonly types: readonly string[];
}

interface KeyColumn {
  readonly name: string; // quoted
  readonly type: string;
  readonly isNullable: boolean;
}

async function readShape(database: Queries, table: string): Promise<TableShape> {
  const [shape] = await database.query<{ columns: string | null; key: readonly KeyColumn[] | null }>(
    `select
       (select string_agg(quote_ident(attname), ', ' order by attnum) filter (where atttypid <> 'bytea'::regtype)
        from pg_attribute where attrelid = t.id and attnum > 0 and not attisdropped) as columns,
       (select json_agg(json_build_object('name', quote_ident(attname), 'type', format_type(atttypid, atttypmod),
          'isNullable', not attnotnull) order by position)
        from unnest(k.indkey::int2[]) with ordinality as n (number, position) join pg_attribute on attrelid = t.id and attnum = number) as key
     from (select ?::regclass as id) t left join lateral (
       select indkey from pg_index where indrelid = t.id and indisunique and indpred is null and indexprs is null
         and (indisprimary or not exists (select from pg_attribute
           where attrelid = t.id and attnum = any(indkey) and not attnotnull) or indnullsnotdistinct)
       order by indisprimary desc, indexrelid limit 1) k on true`,
    [table],
  );
  const key = (shape?.key ?? [{ name: 'ctid', type: 'tid', isNullable: false }]).flatMap(describeKeyColumn);
  return {
    columns: shape?.columns ?? '*',
    key: key.map(({ expression }) => expression),
    types: key.map(({ type }) => type),
  };
}

/** Returns the expressions of a key's column. A comparison with null would end the export. */
function describeKeyColumn({
  name,
  type,
  isNullable,
}: KeyColumn): { readonly expression: string; readonly type: string }[] {
  if (!isNullable) return [{ expression: name, type }];
  return [
    { expression: `(${name} is null)`, type: 'boolean' },
    { expression: `coalesce(${name}::text, '')`, type: 'text' },
  ];
}
