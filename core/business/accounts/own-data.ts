import type { Database } from '#core/platform/database/database.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { readRequests } from '#core/gateway/records/read-requests.ts';

type Queries = Pick<Database, 'query'>;

/** Rows that are read at once. */
const pageSize = 200;

/** Rows that concern an account, as far as they are its owner's business. */
interface OwnTable {
  readonly name: string;
  readonly from: string;
  /** Column that names the account. */
  readonly account: string;
  readonly columns: string;
  /** Text that is unique among the rows of an account; pages follow it. */
  readonly key: string;
}

const ofOrders = 'join plan_order o on o.id = t.order_id';

/** No digests of keys and sessions, and nothing about routes, providers' messages or the operator's notes. */
const ownTables: readonly OwnTable[] = [
  table('account', 't.id', 't.id, t.name, t.email, t.avatar_url, t.language, t.created_at, t.request_count'),
  table('identity', 't.account_id', 't.provider, t.subject, t.email, t.name, t.created_at, t.last_used_at', {
    key: `t.provider || ' ' || t.subject`,
  }),
  table('session', 't.account_id', 't.user_agent, t.created_at, t.last_used_at, t.expires_at'),
  table('api_key', 't.account_id', 't.hint, t.limits, t.created_at, t.rotated_at, t.shown_at'),
  table('plan_period', 't.account_id', 't.starts_at, t.ends_at, t.days, t.label, t.reason, t.limits, t.created_at'),
  table(
    'plan_order',
    't.account_id',
    't.code, t.days, t.price, t.currency, t.label, t.state, t.created_at, t.expires_at, t.paid_at',
  ),
  table(
    'payment',
    'o.account_id',
    'o.code, t.payment_id, t.amount, t.currency, t.paid_at, t.issuer, t.outcome, t.recorded_at',
    { from: `payment t ${ofOrders}` },
  ),
  table('refund', 'o.account_id', 'o.code, t.amount, t.currency, t.state, t.created_at, t.finished_at', {
    from: `refund t ${ofOrders}`,
    key: 't.key',
  }),
  table('response_store', 't.account_id', 't.id, t.input, t.response, t.created_at, t.expires_at'),
];

function table(
  name: string,
  account: string,
  columns: string,
  { from = `${name} t`, key = 't.id::text' }: Partial<Pick<OwnTable, 'from' | 'key'>> = {},
): OwnTable {
  return { name, from, account, columns, key };
}

/**
 * What an owner may download of an account, as the lines of one JSON object: a member for each table, and its requests on
 * record. `exportAccount` has everything, for the operator.
 */
export async function* exportOwnData(database: Queries, accountId: string): AsyncGenerator<string> {
  yield `{"exported_at": ${JSON.stringify(new Date().toISOString())}\n`;
  for (const one of ownTables) {
    yield `,"${one.name}": [\n`;
    yield* separated(readRows(database, one, accountId));
    yield ']\n';
  }
  yield ',"request": [\n';
  yield* separated(describeRequests(database, accountId));
  yield ']}\n';
}

async function* separated(rows: AsyncIterable<string>): AsyncGenerator<string> {
  let separator = '';
  for await (const row of rows) {
    yield `${separator}${row}\n`;
    separator = ',';
  }
}

async function* readRows(database: Queries, own: OwnTable, accountId: string): AsyncGenerator<string> {
  const { from, account, columns, key } = own;
  let last = '';
  for (;;) {
    // Not jsonb, which refuses some texts that JSON allows.
    const rows = await database.query<{ key: string; row: string }>(
      `select ${key} as key, (select row_to_json(r) from (select ${columns}) r)::text as row
       from ${from} where ${account} = ? and ${key} > ? order by 1 limit ?`,
      [accountId, last, pageSize],
    );
    for (const { row } of rows) yield row;
    last = rows.at(-1)?.key ?? '';
    if (rows.length < pageSize) return;
  }
}

async function* describeRequests(database: Queries, accountId: string): AsyncGenerator<string> {
  for await (const record of readRequests(database, { accountId })) yield JSON.stringify(withoutRoutes(record));
}

/** Which routes served is the operator's to show or not. */
function withoutRoutes(record: RequestRecord): object {
  const { route: _route, attempts: _attempts, account_id: _account, ...own } = record;
  return { ...own, started_at: new Date(record.started_at).toISOString() };
}
