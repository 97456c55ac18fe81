import type { Database } from '../database/database.ts';
import { conditionsOf, type RequestFilter } from './filter.ts';

/** What requests are counted by, and the expression for it. Hours begin at epoch ms that are divisible by 3,600,000. */
const expressions = {
  account: 'account_id',
  model: 'model',
  route: 'route',
  hour: "(extract(epoch FROM date_bin('1 hour', started_at, timestamptz 'epoch')) * 1000)::float8",
} as const;

type Values = {
  readonly account: string | null;
  readonly model: string | null;
  readonly route: string | null;
  readonly hour: number;
};
export type CountBy = keyof Values;

export interface RequestCounts {
  readonly requests: number;
  /** Failed, or interrupted by the end of the gateway's process. Refusals (4xx) and clients that left are not errors. */
  readonly errors: number;
  readonly refused: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

/** Counts requests in groups, in the order of the groups. Reads every matching record: name an account or a short time. */
export async function countRequests<const By extends CountBy>(
  database: Pick<Database, 'query'>,
  filter: RequestFilter,
  by: readonly By[],
): Promise<(RequestCounts & Pick<Values, By>)[]> {
  const { sql, parameters } = conditionsOf(filter);
  const groups = by.map((name) => `${expressions[name]} AS "${name}"`);
  const places = by.map((_, index) => index + 1).join(', ');
  return database.query(
    `SELECT ${[...groups, ...counts].join(', ')} FROM request_log WHERE ${sql}
     ${by.length === 0 ? '' : `GROUP BY ${places} ORDER BY ${places}`}`,
    parameters,
  );
}

const counts = [
  'count(*)::float8 AS requests',
  "count(*) FILTER (WHERE outcome IN ('failed', 'interrupted'))::float8 AS errors",
  "count(*) FILTER (WHERE outcome = 'refused')::float8 AS refused",
  'coalesce(sum(input_tokens), 0)::float8 AS input_tokens',
  'coalesce(sum(output_tokens), 0)::float8 AS output_tokens',
];
