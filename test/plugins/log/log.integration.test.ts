import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '#core/errors/table.ts';
import type { Database } from '#core/database/database.ts';
import { type Delivery, delivery } from '#core/facts.ts';
import type { Host } from '#core/host.ts';
import { Keeper } from '#core/extension/keeper.ts';
import { Pipeline } from '#core/pipeline/pipeline.ts';
import type { Outcome, Stage } from '#core/pipeline/stage.ts';
import {
  dropPartitionsBefore,
  ensurePartition,
  partitionJob,
  partitionNames,
} from '../../../plugins/log/partitions.ts';
import { isRefused, PostgresRecordStore } from '../../../plugins/log/record-store.ts';
import { logStage } from '../../../plugins/log/stage.ts';
import { createTestDatabase } from '../../support/database.ts';
import { execute, withDatabase } from '../../support/global-postgres.ts';
import { arrive, chat, identify, MemoryLog, outcome, TemporaryFolder, until } from './fixture.ts';

interface Row {
  readonly id: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly user_agent: string | null;
}

const day = 86_400_000;
let database: Database;
let account: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  account = randomUUID();
  await database.query(`INSERT INTO account (id, name) VALUES (?, 'test')`, [account]);
});

/** What `log` needs of a host, with a folder and a memory of its own. */
class TestHost implements AsyncDisposable {
  readonly folder = new TemporaryFolder();
  readonly keeper = new Keeper();
  readonly log = new MemoryLog();
  readonly host: Host;

  constructor(now: () => number = Date.now) {
    this.host = {
      instance: `test${randomUUID()}`,
      dataFolder: this.folder.path,
      log: this.log,
      database,
      now,
      keep: (key, create) => this.keeper.keep(key, create),
    } satisfies Partial<Host> as Partial<Host> as Host;
  }

  createStage(): Stage {
    return logStage.create(
      { keep_days: 30, max_journal_bytes: 1_073_741_824, content: false, max_content_bytes: 65_536 },
      this.host,
    ) as Stage;
  }

  /** Stops as a process does: records are in the database then. */
  async stop(): Promise<void> {
    await this.keeper[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.folder[Symbol.dispose]();
  }
}

function recordsOf(ids: readonly string[]): Promise<Row[]> {
  return database.query<Row>('SELECT * FROM request_log WHERE id = ANY(string_to_array(?, ?)) ORDER BY id', [
    ids.join(),
    ',',
  ]);
}

async function requestCount(): Promise<number> {
  const [row] = await database.query<{ request_count: string }>('SELECT request_count FROM account WHERE id = ?', [
    account,
  ]);
  return Number(row?.request_count);
}

function line(id: string, changes: object = {}): string {
  return JSON.stringify({
    at: 'end',
    id,
    started_at: Date.now(),
    account_id: account,
    method: 'POST',
    path: '/v1/chat/completions',
    endpoint: 'chat',
    is_metered: true,
    outcome: 'answered',
    ...changes,
  });
}

const error = (code: ErrorCode) => new GatewayError(code, 'this is why');

describe('log stage', () => {
  it.each<[string, Partial<Outcome>, isCounted: boolean]>([
    ['a 200', {}, true],
    ['a 400', { kind: 'refused', status: 400, error: error('invalid_request') }, false],
    ['a 401', { kind: 'refused', status: 401, error: error('invalid_api_key') }, false],
    ['a 402', { kind: 'refused', status: 402, error: error('plan_inactive') }, false],
    ['a 413', { kind: 'refused', status: 413, error: error('request_too_large') }, false],
    ['a 429', { kind: 'refused', status: 429, error: error('rate_limited') }, false],
    ['a 500', { kind: 'failed', status: 500, error: error('internal_error') }, true],
    ['a 502', { kind: 'failed', status: 502, error: error('upstream_failed') }, true],
    ['a stream that broke off', { kind: 'failed', status: 200, error: error('upstream_failed') }, true],
    ['a client that left', { kind: 'aborted', status: undefined, bytesSent: 0, firstByteAfter: undefined }, true],
  ])('leaves exactly one record of %s', async (_, ending, isCounted) => {
    await using test = new TestHost();
    const answering: Stage = {
      enter(exchange) {
        identify(exchange, account);
        return () => {
          if (ending.error !== undefined) throw ending.error;
          return { status: 200, headers: {}, body: '{}' };
        };
      },
    };
    const pipeline = new Pipeline(
      [
        { name: 'answering', stage: answering },
        { name: 'log', stage: test.createStage() },
      ],
      test.log,
    );
    const exchange = arrive();
    pipeline.begin(exchange);
    await pipeline.answer(exchange);
    await pipeline.finish(exchange, outcome(ending));
    await test.stop();
    expect(await recordsOf([exchange.id])).toMatchObject([
      {
        outcome: ending.kind ?? 'answered',
        status: 'status' in ending ? (ending.status ?? null) : 200,
        error_code: ending.error?.code ?? null,
      },
    ]);
    expect(await requestCount()).toBe(isCounted ? 1 : 0);
    expect(test.log.lines.filter((text) => !text.includes('failed inside the gateway'))).toEqual([]);
  });

  it('records what another stage refused before it was its turn', async () => {
    await using test = new TestHost();
    const refusing: Stage = {
      enter() {
        throw error('invalid_api_key');
      },
    };
    const stages = [
      { name: 'refusing', stage: refusing },
      { name: 'log', stage: test.createStage() },
    ];
    const pipeline = new Pipeline(stages, test.log);
    const exchange = arrive();
    pipeline.begin(exchange);
    await pipeline.answer(exchange);
    // Nothing of the answer has been sent yet.
    expect(test.folder.text()).toContain(exchange.id);
    const refused = { kind: 'refused', status: 401, error: exchange.failure } as const;
    await pipeline.finish(exchange, outcome(refused));
    await test.stop();
    expect(await recordsOf([exchange.id])).toMatchObject([
      { outcome: 'refused', status: 401, error_code: 'invalid_api_key', account_id: null },
    ]);
  });

  it('records what the serving route was not told, and counts that are a guess', async () => {
    await using test = new TestHost();
    const stage = test.createStage();
    const record = (delivered: Partial<Delivery>) => {
      const exchange = arrive();
      stage.start?.(exchange);
      exchange.set(delivery, { attempts: [], usage: undefined, firstContentAfter: 1, ...delivered });
      stage.done?.(exchange, outcome());
      return exchange.id;
    };
    const attempt = { route: 'one/a', format: 'messages', startedAt: 1, duration: 2, outcome: 'served' } as const;
    const notes = ['dropped logit_bias', 'approximated a, "b" {c} as \\d'];
    const ids = [
      record({ attempts: [attempt], notes, usage: { input: 1, output: 2, isEstimated: true } }),
      record({ notes: [], usage: { input: 1, output: 2 } }),
      record({}),
    ];
    await test.stop();
    expect(await recordsOf(ids)).toMatchObject([
      { notes, usage_estimated: true, attempts: [{ route: 'one/a', format: 'messages' }] },
      { notes: null, usage_estimated: false },
      { notes: null, usage_estimated: null },
    ]);
  });

  it('goes on with the same journal after a reload', async () => {
    await using test = new TestHost();
    const before = test.createStage();
    const exchange = arrive();
    before.start?.(exchange);
    const after = test.createStage();
    after.start?.(arrive());
    before.done?.(exchange, outcome());
    expect(test.folder.journal()).toHaveLength(1);
  });

  it('shows CR LF, terminal escapes and NUL of a user agent as one line', async () => {
    await using test = new TestHost();
    const stage = test.createStage();
    const exchange = arrive({ headers: { 'user-agent': 'a\r\nb\u001b[2Jc\u0000' } });
    stage.start?.(exchange);
    stage.done?.(exchange, outcome());
    await test.stop();
    const [record] = await recordsOf([exchange.id]);
    expect(record?.user_agent).toBe('a\\x0d\\x0ab\\x1b[2Jc\\x00');
  });

  it('counts neither what is not metered nor what was refused', async () => {
    await using test = new TestHost();
    const stage = test.createStage();
    const run = (isMetered: boolean, kind: Outcome['kind']) => {
      const exchange = identify(arrive({ endpoint: { ...chat, isMetered } }), account);
      stage.start?.(exchange);
      stage.done?.(exchange, outcome({ kind }));
    };
    for (let round = 0; round < 700; round++) {
      run(true, 'answered');
      run(false, 'answered');
      run(true, 'refused');
    }
    await test.stop();
    expect(await requestCount()).toBe(700);
  });

  it('keeps records while the database is away, and brings them in within ten seconds of its return', async () => {
    await using test = new TestHost();
    const stage = test.createStage();
    const name = new URL(database.url).pathname.slice(1);
    const admin = withDatabase(database.url, 'postgres');
    await execute(admin, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await execute(admin, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    const exchanges = Array.from({ length: 300 }, () => identify(arrive(), account));
    for (const exchange of exchanges) {
      stage.start?.(exchange);
      stage.enter?.(exchange);
      stage.done?.(exchange, outcome());
    }
    await until(() => test.log.lines.some((text) => text.includes('wait on disk')));
    await execute(admin, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    const ids = exchanges.map(({ id }) => id);
    await until(async () => (await recordsOf(ids)).length === 300);
    expect(await requestCount()).toBe(300);
  });

  it('sets aside what the database refuses, and records the rest', async () => {
    await using test = new TestHost();
    const stage = test.createStage();
    const exchanges = Array.from({ length: 9 }, (_, index) => {
      return identify(arrive(), index === 4 ? 'no-uuid' : account);
    });
    for (const exchange of exchanges) {
      stage.start?.(exchange);
      stage.done?.(exchange, outcome());
    }
    await test.stop();
    expect(await recordsOf(exchanges.map(({ id }) => id))).toHaveLength(8);
    expect(await requestCount()).toBe(8);
    const file = test.log.lines[0]?.match(/set aside in (.*\.ndjson): /)?.[1] ?? '';
    expect(file).toContain(join(test.folder.path, 'journal', 'rejected'));
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ id: exchanges[4]?.id, account_id: 'no-uuid' });
  });
});

describe('record store', () => {
  it('takes the same records twice, and keeps and counts them once', async () => {
    const store = new PostgresRecordStore(database);
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const lines = ids.map((id) => line(id));
    await store.insert('one', lines.slice(0, 2));
    await store.insert('one', lines);
    await store.insert('two', [...lines, ...lines]);
    expect(await recordsOf(ids)).toHaveLength(3);
    expect(await requestCount()).toBe(3);
  });

  it('keeps the record that came first', async () => {
    const store = new PostgresRecordStore(database);
    const id = randomUUID();
    const answered = line(id);
    await store.insert('one', [answered]);
    await store.insert('two', [answered.replace('answered', 'interrupted')]);
    expect(await recordsOf([id])).toMatchObject([{ outcome: 'answered', instance: 'one' }]);
  });

  it('counts exactly when instances ship the same records of the same accounts at once', async () => {
    const store = new PostgresRecordStore(database);
    const other = randomUUID();
    await database.query(`INSERT INTO account (id, name) VALUES (?, 'other')`, [other]);
    const lines = Array.from({ length: 400 }, (_, index) =>
      line(randomUUID(), { account_id: index % 2 === 0 ? account : other }),
    );
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => store.insert('x', index % 2 === 0 ? lines : lines.toReversed())),
    );
    expect(await requestCount()).toBe(200);
  });

  it('makes the partition that a record needs', async () => {
    const store = new PostgresRecordStore(database);
    const id = randomUUID();
    await store.insert('one', [line(id, { started_at: Date.UTC(2024, 1, 29, 23, 59, 59, 999) })]);
    expect(await database.query('SELECT tableoid::regclass::text AS name FROM request_log WHERE id = ?', [id])).toEqual(
      [{ name: 'request_log_20240229' }],
    );
    await dropPartitionsBefore(database, Date.UTC(2024, 2, 1));
  });

  it.each([
    ['an outcome that is none', { outcome: 'lost' }],
    ['a time that is none', { started_at: 'yesterday' }],
    ['a time in another age', { started_at: 1 }],
    ['a status that is too large', { status: 99_999 }],
  ])('refuses %s, and says that trying again is useless', async (_, changes) => {
    const store = new PostgresRecordStore(database);
    await expect(store.insert('one', [line(randomUUID(), changes)])).rejects.toSatisfy(isRefused);
  });
});

describe('partitions', () => {
  it('are made for yesterday, today and a week ahead, and dropped after keep_days', async () => {
    const now = Date.UTC(2031, 4, 31, 12);
    await using test = new TestHost(() => now);
    test.createStage().activate?.();
    for (const age of [29, 30, 31, 32, 400]) await ensurePartition(database, now - (now % day) - age * day);
    await partitionJob.run({}, test.host);
    const names = (await partitionNames(database)).filter((name) => name > 'request_log_2030');
    expect(names.map((name) => name.slice(-8))).toEqual([
      '20310501',
      '20310502',
      '20310530',
      '20310531',
      '20310601',
      '20310602',
      '20310603',
      '20310604',
      '20310605',
      '20310606',
      '20310607',
    ]);
    expect(test.log.lines.at(-1)).toMatch(/^info dropped the request records of .*20300426, 20310429, 20310430$/);
  });

  it('are not dropped when no stage has said how long to keep them', async () => {
    const now = Date.UTC(2032, 0, 1);
    await using test = new TestHost(() => now);
    await ensurePartition(database, now - 100 * day);
    await partitionJob.run({}, test.host);
    expect(await partitionNames(database)).toContain('request_log_20310923');
  });

  it('can be made by several instances at once', async () => {
    const start = Date.UTC(2033, 0, 1);
    await Promise.all(Array.from({ length: 8 }, () => ensurePartition(database, start)));
    expect(await partitionNames(database)).toContain('request_log_20330101');
  });

  it('have the indexes of the table', async () => {
    await ensurePartition(database, Date.UTC(2034, 0, 1));
    const rows = await database.query<{ definition: string }>(
      `SELECT indexdef AS definition FROM pg_indexes WHERE tablename = 'request_log_20340101' ORDER BY 1`,
    );
    expect(rows.map(({ definition }) => definition.replace(/.* USING /, ''))).toEqual([
      'btree (account_id, model, started_at DESC)',
      'btree (account_id, started_at DESC)',
      'btree (account_id, started_at DESC) WHERE has_failover',
      "btree (account_id, started_at DESC) WHERE (cache = 'hit'::text)",
      'btree (account_id, started_at DESC, status) WHERE (status >= 400)',
      'btree (started_at, id)',
    ]);
  });

  it('give up after a second instead of holding up everybody behind a long reader', async () => {
    const start = Date.UTC(2023, 0, 1);
    await ensurePartition(database, start);
    const reader = database.fork();
    await reader.transactional(async (transaction) => {
      await transaction.execute('SELECT count(*) FROM request_log');
      await expect(dropPartitionsBefore(database, start + day)).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await dropPartitionsBefore(database, start + day)).toEqual(['20230101']);
  });
});
