import type { Queries } from '#core/platform/database/database.ts';

const pageSize = 200;

const conditionByColumn: Readonly<Record<string, string>> = {
  account_id: 'account_id = ?',
  order_id: 'order_id in (select id from plan_order where account_id = ?)',
};

// Tables without an `account_id` or `order_id` column.
const conditionByTable: Readonly<Record<string, string>> = {
  payment_notification:
    'reference in (select reference from payment_attempt a join plan_order o on o.id = a.order_id where o.account_id = ?)',
  account_event: `payload ->> 'accountId' = ?::text`,
  operator_action: 'subject in (select ?::text union all select id::text from plan_order where account_id = ?)',
  request_content: '(started_at, id) in (select started_at, id from request_log where account_id = ?)',
};

/**
 * Exports everything that the database holds about an account, as the lines of one JSON object with a member per table. Plugins' tables are
 * found by their columns `account_id` and `order_id`. Omits `bytea` columns, which contain digests of keys and sessions.
 */
export async function* exportAccount(database: Queries, accountId: string): AsyncGenerator<string> {
  yield '{';
  yield `"exported_at": ${JSON.stringify(new Date().toISOString())},`;
  yield* exportTable(database, 'account', 'id = ?', accountId);
  for (const [table, condition] of [...(await findLinkedTables(database)), ...Object.entries(conditionByTable)]) {
    yield ',';
    yield* exportTable(database, table, condition, accountId);
  }
  yield '}';
}

async function findLinkedTables(database: Queries): Promise<(readonly [table: string, condition: string])[]> {
  const rows = await database.query<{ name: string; columns: readonly string[] }>(
    `select c.relname as name, json_agg(a.attname order by a.attnum) as columns from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attname in (?) and not a.attisdropped
     where c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('account'))
       and c.relkind in ('r', 'p') and not c.relispartition
     group by c.relname order by bool_or(a.attname = 'account_id') desc, c.relname`,
    [Object.keys(conditionByColumn)],
  );
  return rows.map(({ name, columns }) => [
    name,
    `(${columns.map((column) => conditionByColumn[column]).join(' or ')})`,
  ]);
}

/** @param table an existing table, never user input: its name is not escaped */
async function* exportTable(
  database: Queries,
  table: string,
  condition: string,
  accountId: string,
): AsyncGenerator<string> {
  const { columns, key } = await readShape(database, table);
  const expressions = key.map(({ expression }) => expression);
  const values = key.map(({ type }) => `?::${type}`);
  const keyList = expressions.join(', ');
  // The first comparison is redundant, but lets PostgreSQL prune partitions.
  const afterLastKey = `and ${expressions[0]} >= ${values[0]} and (${keyList}) > (${values.join(', ')})`;
  const accountIds = Array.from(condition.matchAll(/\?/g), () => accountId);
  yield `"${table}": [`;
  let separator = '';
  let lastKey: readonly string[] | undefined;
  for (;;) {
    // Not jsonb, which rejects some valid JSON strings, such as those with \u0000.
    const rows = await database.query<{ key: readonly string[]; row: string }>(
      `select array[${expressions.map((expression) => `${expression}::text`).join(', ')}] as key,
         (select row_to_json(r) from (select ${columns}) r)::text as row
       from "${table}" t where ${condition} ${lastKey === undefined ? '' : afterLastKey} order by ${keyList} limit ?`,
      [...accountIds, ...(lastKey === undefined ? [] : [lastKey[0], ...lastKey]), pageSize],
    );
    for (const { row } of rows) {
      yield separator + row;
      separator = ',';
    }
    if (rows.length < pageSize) break;
    lastKey = rows.at(-1)?.key;
  }
  yield ']';
}

interface TableShape {
  readonly columns: string; // SQL list
  /**
   * Orders the rows by values that never change: the primary key, or the oldest unique key without a condition (nulls last). Tables with
   * neither are ordered by `ctid`, because their rows never change.
   */
  readonly key: readonly KeyExpression[];
}

interface KeyExpression {
  readonly expression: string; // SQL
  readonly type: string;
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
  const keyColumns = shape?.key ?? [{ name: 'ctid', type: 'tid', isNullable: false }];
  return { columns: shape?.columns ?? '*', key: keyColumns.flatMap(toKeyExpressions) };
}

function toKeyExpressions({ name, type, isNullable }: KeyColumn): KeyExpression[] {
  // Never null: comparing with null would end the export early.
  if (!isNullable) return [{ expression: name, type }];
  return [
    { expression: `(${name} is null)`, type: 'boolean' },
    { expression: `coalesce(${name}::text, '')`, type: 'text' },
  ];
}
