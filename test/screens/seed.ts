import { randomUUIDv7 } from 'node:crypto';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import type { Database } from '#core/platform/database/database.ts';
import { RecordBook } from '../core/gateway/records/record-fixture.ts';
import { longNames } from './long-names.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

type Draft = Partial<RequestRecord>;

/** Numbers that look random and are the same each time. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    yield state / 4_294_967_296;
  }
}

/** A week that began some days ago, so that its ticks are half used. */
export async function grantWeek(database: Database, accountId: string, now: number): Promise<void> {
  const start = new Date(now - 2.7 * day);
  const end = new Date(start.getTime() + 7 * day);
  await database.query(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, reason, label) values (?, ?, ?, ?, 7, 'grant', 'for weekly work')`,
    [randomUUIDv7(), accountId, start, end],
  );
}

/** A pass that has ended, with a request, and time that came back for outages. */
export async function writeFormer(database: Database, accountId: string, now: number): Promise<void> {
  await database.query(
    `insert into plan_period (id, account_id, starts_at, ends_at, days, reason) values (?, ?, ?, ?, 7, 'grant')`,
    [randomUUIDv7(), accountId, new Date(now - 30 * day), new Date(now - 23 * day)],
  );
  for (const [model, minutes] of [
    [`dp/${longNames.model}`, 312],
    ['dp/gpt-6-sol', 23],
  ] as const) {
    const [id, from] = [randomUUIDv7(), now - 26 * day];
    await database.query(
      'insert into outage (id, incident_id, model, from_at, until_at, credited_at) values (?, ?, ?, ?, ?, ?)',
      [id, randomUUIDv7(), model, new Date(from), new Date(from + minutes * minute), new Date(from + day)],
    );
    await database.query('insert into outage_credit (outage_id, account_id, seconds, created_at) values (?, ?, ?, ?)', [
      id,
      accountId,
      minutes * 60,
      new Date(from + day),
    ]);
  }
  await write(database, accountId, [answered(now - 24 * day, () => 0.3)]);
}

/** What the upstreams of the world serve, busiest first, with the share of requests. */
const models = [
  { model: 'dp/claude-sonnet-5-5', route: 'claude/claude-sonnet-5-5', share: 0.48, first: 660 },
  { model: 'dp/gpt-6-sol', route: 'openai/gpt-6-sol', share: 0.73, first: 580 },
  { model: 'dp/gemini-3.8-flash', route: 'google/gemini-3.8-flash', share: 0.85, first: 1400 },
  { model: `dp/${longNames.model}`, route: `fireworks/${longNames.model}`, share: 0.9, first: 930 },
  { model: 'dp/qwen3-coder', route: 'other/qwen3-coder', share: 1, first: 410 },
  // Not in the customer's log, whose pages are about conversations.
  { model: 'dp/text-embedding-3-large', route: 'openai/text-embedding-3-large', share: 1, first: 90, isStream: false },
  {
    model: 'dp/gpt-image-2.6-sunburst',
    route: 'openai/gpt-image-2.6-sunburst',
    share: 1,
    first: 6100,
    isStream: false,
  },
] as const satisfies readonly { model: string; route: string; share: number; first: number; isStream?: false }[];

const clients = ['openai-python/1.54.0', 'claude-cli/2.0.1 (external, cli)', 'codex_cli_rs/0.46.0', 'curl/8.7.1'];

function answered(at: number, random: () => number): Draft {
  const pick = random();
  const { model, route, first } = models.find(({ share }) => pick < share) ?? models[0];
  const firstContent = Math.round(first * (0.7 + random() * 0.8));
  return {
    started_at: at,
    endpoint: 'responses',
    path: '/v1/responses',
    format: 'responses',
    is_stream: true,
    model,
    route,
    status: 200,
    outcome: 'answered',
    first_byte_ms: firstContent - 40,
    first_content_ms: firstContent,
    duration_ms: firstContent + Math.round(400 + random() * 6000),
    input_tokens: Math.round(200 + random() ** 3 * 24_000),
    output_tokens: Math.round(40 + random() ** 2 * 2400),
    user_agent: clients[Math.floor(random() * clients.length)] ?? null,
    remote_address: firstContent % 5 === 0 ? '198.51.100.24' : '203.0.113.7',
    attempts: [{ route, outcome: 'served', started_ms: 12, duration_ms: firstContent + 900, status: 200 }] as never,
  };
}

/** What stands on the first page of requests: each kind of end, newest first. */
function latest(now: number, random: () => number): Draft[] {
  const plain = (seconds: number, changes: Draft): Draft => ({ ...answered(now - seconds * 1000, random), ...changes });
  const sonnet = {
    model: 'dp/claude-sonnet-5-5',
    route: 'claude/claude-sonnet-5-5',
    format: 'messages',
    endpoint: 'messages',
    path: '/v1/messages',
  };
  const none = { route: null, first_content_ms: null, first_byte_ms: null, output_tokens: null, attempts: null };
  return [
    plain(8, { ...sonnet, first_content_ms: 710, duration_ms: 6840, input_tokens: 8412, output_tokens: 1106 }),
    plain(23, {
      model: 'dp/gpt-6-sol',
      route: 'other/gpt-6-sol',
      has_failover: true,
      first_content_ms: 1090,
      duration_ms: 4280,
      input_tokens: 1284,
      output_tokens: 402,
      user_agent: 'openai-python/1.54.0',
      attempts: [
        {
          route: 'openai/gpt-6-sol',
          outcome: 'failed',
          started_ms: 0,
          duration_ms: 412,
          status: 503,
          fault: 'route',
          error: 'route: 503 overloaded',
        },
        { route: 'other/gpt-6-sol', outcome: 'served', started_ms: 412, duration_ms: 3868, status: 200 },
      ] as never,
    }),
    plain(35, {
      model: 'dp/gemini-3.8-flash',
      route: 'google/gemini-3.8-flash',
      input_tokens: 23_907,
      output_tokens: 88,
      duration_ms: 2020,
      first_content_ms: 1400,
    }),
    plain(54, { ...sonnet, input_tokens: 7960, output_tokens: 2371, duration_ms: 9610, first_content_ms: 660 }),
    plain(77, {
      ...none,
      model: 'dp/gpt-6-sol',
      cache: 'hit',
      duration_ms: 12,
      first_content_ms: 9,
      input_tokens: 512,
      output_tokens: 96,
    }),
    plain(91, {
      ...none,
      model: 'dp/qwen3-coder',
      outcome: 'refused',
      status: 429,
      error_code: 'rate_limited' as never,
      error_message: 'Too many requests.',
      duration_ms: 2,
      input_tokens: null,
    }),
    plain(104, {
      model: 'dp/gpt-6-sol',
      route: 'openai/gpt-6-sol',
      input_tokens: 3118,
      output_tokens: 640,
      is_policy_refusal: true,
    }),
    plain(138, {
      ...none,
      ...sonnet,
      outcome: 'failed',
      status: 502,
      error_code: 'upstream_failed' as never,
      error_message: 'All routes failed.',
      duration_ms: 3100,
      input_tokens: 8004,
    }),
    plain(150, {
      model: `dp/${longNames.model}`,
      route: `other/${longNames.backup}`,
      has_failover: true,
      attempts: [
        {
          route: `fireworks/${longNames.model}`,
          outcome: 'failed',
          started_ms: 0,
          duration_ms: 412,
          status: 503,
          fault: 'route',
          error: `route: 503 The deployment ${longNames.model} is scaling up; retry in 30 seconds`,
        },
        { route: `other/${longNames.backup}`, outcome: 'served', started_ms: 412, duration_ms: 2100, status: 200 },
      ] as never,
    }),
    plain(160, {
      ...none,
      model: null,
      format: 'chat',
      endpoint: 'chat',
      path: '/v1/chat/completions',
      outcome: 'refused',
      status: 404,
      error_code: 'model_not_found' as never,
      error_message: `Model "${longNames.model}-v2" not found. Did you mean "dp/${longNames.model}"?`,
      duration_ms: 3,
      input_tokens: null,
    }),
    plain(183, { model: 'dp/qwen3-coder', route: 'other/qwen3-coder', input_tokens: 2046, output_tokens: 311 }),
    plain(215, {
      model: 'dp/gpt-6-sol',
      route: 'openai/gpt-6-sol',
      outcome: 'aborted',
      duration_ms: 1220,
      first_content_ms: 380,
      input_tokens: 640,
      output_tokens: 120,
    }),
  ];
}

/** Days of one account, most of it in the last one. @returns the id of a request that two routes tried */
export async function writeAccount(database: Database, accountId: string, now: number, days: number): Promise<string> {
  const source = numbers(7);
  const random = () => source.next().value;
  const records = latest(now, random);
  for (let count = 0; count < 420; count++) {
    const at = now - 5 * minute - (random() + random()) * 0.5 * 23.5 * hour;
    const record = answered(at, random);
    const isFailed = random() < 0.015;
    records.push(
      isFailed ? { ...record, outcome: 'failed', status: 502, first_content_ms: null, output_tokens: null } : record,
    );
  }
  for (let count = 0; count < 160; count++) records.push(answered(now - day - random() * (days - 2) * day, random));
  const ids = await write(database, accountId, records);
  return ids[1] ?? '';
}

/** Days of every model, of another account: what the status page is made of. */
export async function writeTraffic(database: Database, accountId: string, now: number, days: number): Promise<void> {
  const source = numbers(11);
  const random = () => source.next().value;
  /** Days ago, and the share of failures then. */
  const badDays = new Map([
    [
      'dp/gpt-6-sol',
      [
        [50, 0.04],
        [49, 0.6],
        [13, 0.03],
      ],
    ],
    ['dp/claude-sonnet-5-5', [[28, 0.03]]],
    [
      'dp/gemini-3.8-flash',
      [
        [79, 0.04],
        [78, 0.5],
        [77, 0.55],
        [34, 0.04],
      ],
    ],
  ] as [string, number[][]][]);
  const records: Draft[] = [];
  for (const { model, route, first, ...more } of models) {
    const isStream = !('isStream' in more);
    const age = model === 'dp/qwen3-coder' ? Math.ceil(days / 3) : days;
    for (let ago = 0; ago < age; ago++) {
      const share = badDays.get(model)?.find(([bad]) => bad === ago)?.[1] ?? 0;
      for (let count = 0; count < 24; count++) {
        const at = now - ago * day - random() * (ago === 0 ? 50 * minute : 20 * hour) - minute;
        const isFailed = count < share * 24;
        const firstContent = Math.round(first * (0.8 + random() * 0.4));
        records.push({
          started_at: at,
          model,
          route,
          outcome: isFailed ? 'failed' : 'answered',
          status: isFailed ? 502 : 200,
          is_stream: isStream,
          duration_ms: firstContent + (isStream ? 2000 : 0),
          first_content_ms: isFailed ? null : firstContent,
          output_tokens: isStream && !isFailed ? Math.round((60_000 / first) * (1.2 + random())) : null,
        });
      }
    }
  }
  await write(database, accountId, records);
}

async function write(database: Database, accountId: string, records: readonly Draft[]): Promise<string[]> {
  const book = new RecordBook(database);
  const whole = records.map((record) => ({
    ...record,
    account_id: accountId,
    started_at: Math.round(record.started_at ?? 0),
  }));
  const ids: string[] = [];
  for (let start = 0; start < whole.length; start += 1000)
    ids.push(...(await book.write(...whole.slice(start, start + 1000))));
  return ids;
}

/** What probes found: a route that does what it declares, one that drifted, and one behind which another model serves. */
export async function writeProbes(database: Database, now: number): Promise<void> {
  const drifted = `other/${longNames.backup}`;
  const rows = [
    ['openai/gpt-6-sol', 'streams', 'ok', null, null, 640, 71.5, null],
    ['openai/gpt-6-sol', 'fingerprint', 'ok', null, null, null, null, 97],
    ['claude/claude-sonnet-5-5', 'fingerprint', 'failed', 'other_maker', 'Anthropic → DeepSeek', null, null, 31],
    [drifted, 'answers', 'ok', null, null, null, null, null],
    [drifted, 'streams', 'ok', null, null, 1_480, 38.2, null],
    [
      drifted,
      'tool',
      'failed',
      'no_call',
      'I cannot look up the weather, but in Jakarta it is usually warm and humid.',
      null,
      null,
      null,
    ],
    [
      drifted,
      'schema',
      'failed',
      'not_json',
      'Jakarta is the capital and largest city of Indonesia.',
      null,
      null,
      null,
    ],
    [drifted, 'stop', 'unknown', 'throttled', 'throttled: retry after 30 s', null, null, null],
  ];
  for (const row of rows)
    await database.query(
      `insert into probes_result (id, route, upstream, check_name, state, reason, detail, first_content_ms, tokens_per_second, score,
         started_at, tokens)
       values (?, ?, split_part(?::text, '/', 1), ?, ?, ?, ?, ?, ?, ?, ?, 184)`,
      [randomUUIDv7(), row[0], ...row, new Date(now - 3 * hour)],
    );
}

/** A canary that runs, for the page; the gateway is not told. */
export async function writeCanary(database: Pick<Database, 'query'>): Promise<void> {
  const side = { accounts: 210, requests: 4_812, failures: 31, refusals: 96, timed: 4_455, firstTokenMs: 640 };
  const canary = { accounts: 24, requests: 530, failures: 6, refusals: 9, timed: 497, firstTokenMs: 655 };
  await database.query(
    `insert into configuration_canary (id, base_digest, text, digest, salt, share, operator, note, until, next_look, counts, verdict)
     values (1, '', '', '', '', 0.1, 'ops@example.com', 'new vendor', clock_timestamp() + interval '7 minutes', 8000, ?::jsonb, 'undecided')`,
    [JSON.stringify({ canary, others: side })],
  );
}
