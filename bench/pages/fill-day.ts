import type pg from 'pg';
import { attemptDeltasOf, deltasOf } from '../../migrations/Migration20261122000005_usage.ts';
import { clientDeltasOf } from '../../migrations/Migration20261129151010_usage_of_clients.ts';
import { models } from './catalog.ts';

export interface DayOfRequests {
  readonly accounts: readonly string[];
  readonly start: number; // epoch ms; the end is exclusive
  readonly end: number;
  readonly rows: number;
}

const day = 86_400_000; // ms

/**
 * Fills a day's partition as a separate table, which writes no WAL, then attaches it, which builds its indexes all at once. Its usage is
 * what the trigger would have appended.
 */
export async function fillDay(client: pg.Client, filled: DayOfRequests): Promise<void> {
  await client.query('BEGIN');
  const name = await fillPartition(client, filled);
  await client.query(deltasOf(name));
  await client.query(clientDeltasOf(name));
  await client.query(attemptDeltasOf(name));
  await client.query('COMMIT');
}

/** Like `fillDay`, but adds no usage. Returns the partition's name. */
export async function fillPartition(client: pg.Client, { accounts, start, end, rows }: DayOfRequests): Promise<string> {
  const first = start - (start % day);
  const name = `request_log_${new Date(first).toISOString().slice(0, 10).replaceAll('-', '')}`;
  await client.query(
    `CREATE TABLE ${name} (LIKE request_log INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)`,
  );
  await client.query(`INSERT INTO ${name} (${columns.join(', ')}) ${requests}`, [
    rows,
    start,
    (end - start) / rows,
    accounts,
    Object.keys(models).map((model) => `dp/${model}`),
    Object.values(models).map(([primary]) => primary),
    Object.values(models).map(([, backup]) => backup),
  ]);
  await client.query(
    `ALTER TABLE request_log ATTACH PARTITION ${name}
     FOR VALUES FROM ('${new Date(first).toISOString()}') TO ('${new Date(first + day).toISOString()}')`,
  );
  return name;
}

const columns = [
  'id',
  'started_at',
  'instance',
  'account_id',
  'key_hint',
  'method',
  'path',
  'endpoint',
  'is_metered',
  'format',
  'bytes_in',
  'remote_address',
  'user_agent',
  'model',
  'is_stream',
  'outcome',
  'status',
  'duration_ms',
  'first_byte_ms',
  'bytes_out',
  'error_code',
  'error_message',
  'cache',
  'route',
  'has_failover',
  'first_content_ms',
  'attempts',
  'notes',
  'input_tokens',
  'output_tokens',
  'usage_estimated',
];

/**
 * 30 % of the requests come from the first account; each later account sends fewer. 2 % are lists of models. Of the calls, 1.5 % are
 * rejected, 1 % fail, 1 % are abandoned by the client, 2 % need a second route, and 3 % come from the cache.
 */
const requests = `
  SELECT
    'req_' || lpad(to_hex(at), 12, '0') || '7' || substr(digits, 1, 3) || '8' || substr(digits, 4, 15),
    timestamptz 'epoch' + at * interval '1 millisecond', 'seed',
    ($4::uuid[])[
      CASE WHEN by_account < 0.3 THEN 1 ELSE 2 + floor((by_account - 0.3) / 0.7 * by_rank * (cardinality($4::uuid[]) - 1))::integer END],
    'dp-AbCd…wxyz', CASE WHEN is_call THEN 'POST' ELSE 'GET' END,
    CASE WHEN is_call THEN '/v1/chat/completions' ELSE '/v1/models' END,
    CASE WHEN is_call THEN 'chat' ELSE 'models' END, is_call, CASE WHEN is_call THEN 'chat' END,
    CASE WHEN is_call THEN 400 + floor(by_size * 20000) END, '203.0.113.7',
    (ARRAY['OpenAI/Python 2.11.0', 'claude-cli/2.1.332 (external, cli)', 'codex_exec/0.171.0', 'opencode/1.18.33'])[1 + model % 4],
    CASE WHEN is_call AND outcome <> 'refused' THEN ($5::text[])[model] END,
    CASE WHEN is_call THEN by_size < 0.7 END, outcome,
    CASE outcome WHEN 'answered' THEN 200 WHEN 'refused' THEN 429 WHEN 'failed' THEN 502 END,
    duration, CASE WHEN is_served THEN first_content END, 200 + floor(by_size * 40000),
    CASE outcome WHEN 'refused' THEN 'rate_limited' WHEN 'failed' THEN 'upstream_failed' END,
    CASE outcome WHEN 'refused' THEN 'Too many requests. Try again in 12 s.' WHEN 'failed' THEN 'HTTP 503 from all routes' END,
    CASE WHEN is_cached THEN 'hit' END,
    CASE WHEN is_served THEN CASE WHEN has_failover THEN backup ELSE main END END,
    CASE WHEN is_sent THEN has_failover END,
    CASE WHEN is_served THEN first_content END,
    CASE WHEN is_sent THEN
      CASE WHEN has_failover THEN jsonb_build_array(
        jsonb_build_object('route', main, 'outcome', 'failed', 'format', 'chat', 'started_ms', 2,
          'duration_ms', floor(first_content / 2), 'status', 503, 'fault', 'route', 'error', 'HTTP 503'),
        jsonb_build_object('route', backup, 'outcome', CASE WHEN is_served THEN 'served' ELSE 'failed' END, 'format', 'chat',
          'started_ms', 2 + floor(first_content / 2), 'duration_ms', floor(duration / 2)))
      ELSE jsonb_build_array(jsonb_build_object('route', main, 'outcome', CASE WHEN is_served THEN 'served' ELSE 'failed' END,
        'format', 'chat', 'started_ms', 2, 'duration_ms', duration)) END
    END,
    CASE WHEN is_served AND by_size > 0.95 THEN ARRAY['temperature is left out: the model has none'] END,
    CASE WHEN is_served THEN floor(by_size * 8000) END, CASE WHEN is_served THEN floor(by_rank * 2000) END,
    CASE WHEN is_served THEN false END
  FROM (
    SELECT *, ($6::text[])[model] AS main, ($7::text[])[model] AS backup,
      is_call AND outcome <> 'refused' AND NOT is_cached AS is_sent,
      is_call AND outcome IN ('answered', 'aborted') AND NOT is_cached AS is_served,
      is_call AND outcome <> 'refused' AND NOT is_cached AND by_failover < 0.02 AS has_failover,
      floor(200 + 6000 * by_time ^ 4) AS first_content, floor(400 + 20000 * by_time ^ 3) AS duration
    FROM (
      SELECT *, is_call AND outcome = 'answered' AND by_failover > 0.97 AS is_cached
      FROM (
        SELECT $2::bigint + floor((i + random()) * $3::float8)::bigint AS at, md5(random()::text) AS digits,
          random() AS by_account, random() AS by_rank, random() AS by_size, random() AS by_time, random() AS by_failover,
          random() < 0.98 AS is_call, 1 + floor(random() ^ 1.5 * cardinality($5::text[]))::integer AS model,
          (ARRAY['answered', 'refused', 'failed', 'aborted'])[width_bucket(random(), ARRAY[0, 0.965, 0.98, 0.99])] AS outcome
        FROM generate_series(0, $1::bigint - 1) AS i
        OFFSET 0
      ) AS drawn OFFSET 0
    ) AS cached OFFSET 0
  ) AS known`;
