import type { Queries } from '#core/platform/database/database.ts';
import { formatTimestamp } from './filter.ts';
import { startOfHour, type UsageCounts } from './usage.ts';

export const loadMeasures = ['requests', 'tokens', 'failed', 'policy'] as const;
export type LoadMeasure = (typeof loadMeasures)[number];

export interface AccountLoad extends Pick<
  UsageCounts,
  'requests' | 'failed' | 'refused' | 'policyRefusals' | 'inputTokens' | 'outputTokens'
> {
  readonly accountId: string;
  readonly share: number; // of the requests of all accounts, 0 to 1
}

/**
 * Lists the accounts with the most requests, tokens, failures or policy refusals from hourly counts, heaviest first for each measure.
 *
 * @param options.since epoch ms; the complete hour that contains it is counted
 */
export async function listHeaviestAccounts(
  database: Queries,
  { since, limit }: { readonly since: number; readonly limit: number },
): Promise<Readonly<Record<LoadMeasure, readonly AccountLoad[]>>> {
  const columns =
    'account_id, answered, refused, failed, interrupted, aborted, policy_refusals, input_tokens, output_tokens';
  const firstHour = formatTimestamp(startOfHour(since));
  const rows = await database.query<Row>(
    `WITH counted AS (
       SELECT account_id, sum(answered + refused + failed + interrupted + aborted)::float8 AS requests,
         sum(failed + interrupted)::float8 AS failed, sum(refused)::float8 AS refused,
         sum(policy_refusals)::float8 AS policy_refusals,
         sum(input_tokens)::float8 AS input_tokens, sum(output_tokens)::float8 AS output_tokens
       FROM (
         SELECT ${columns} FROM usage_account WHERE hour >= ? UNION ALL SELECT ${columns} FROM usage_delta WHERE hour >= ?
       ) AS parts
       WHERE account_id IS NOT NULL GROUP BY account_id
     ), ranked AS (
       SELECT *, requests / nullif(sum(requests) OVER (), 0) AS share, ${rankSql('requests')} AS by_requests,
         ${rankSql('input_tokens + output_tokens')} AS by_tokens, ${rankSql('failed')} AS by_failed, ${rankSql('policy_refusals')} AS by_policy
       FROM counted
     )
     SELECT account_id, requests, failed, refused, policy_refusals, input_tokens, output_tokens, share, by_requests::float8, by_tokens::float8,
       by_failed::float8, by_policy::float8
     FROM ranked WHERE least(by_requests, by_tokens, by_failed, by_policy) <= ?`,
    [firstHour, firstHour, limit],
  );
  const listTop = (rankColumn: RankColumn, valueOf: (row: Row) => number) =>
    rows
      .filter((row) => row[rankColumn] <= limit && valueOf(row) > 0)
      .toSorted((a, b) => a[rankColumn] - b[rankColumn])
      .map(toLoad);
  return {
    requests: listTop('by_requests', (row) => row.requests),
    tokens: listTop('by_tokens', (row) => row.input_tokens + row.output_tokens),
    failed: listTop('by_failed', (row) => row.failed),
    policy: listTop('by_policy', (row) => row.policy_refusals),
  };
}

type RankColumn = 'by_requests' | 'by_tokens' | 'by_failed' | 'by_policy';

const rankSql = (expression: string) => `row_number() OVER (ORDER BY ${expression} DESC, account_id)`;

interface Row {
  readonly account_id: string;
  readonly requests: number;
  readonly failed: number;
  readonly refused: number;
  readonly policy_refusals: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly share: number | null;
  readonly by_requests: number;
  readonly by_tokens: number;
  readonly by_failed: number;
  readonly by_policy: number;
}

function toLoad(row: Row): AccountLoad {
  return {
    accountId: row.account_id,
    requests: row.requests,
    failed: row.failed,
    refused: row.refused,
    policyRefusals: row.policy_refusals,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    share: row.share ?? 0,
  };
}
