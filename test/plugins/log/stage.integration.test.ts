import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Delivery, delivery, unauthenticated } from '#core/gateway/facts.ts';
import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Outcome, Stage } from '#core/gateway/pipeline/stage.ts';
import { readUnauthenticated, startOfMinute } from '#core/gateway/records/unauthenticated.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Database } from '#core/platform/database/database.ts';
import { type ErrorCode, GatewayError } from '#core/platform/errors/table.ts';
import { createTestDatabase } from '../../support/database.ts';
import { execute, withDatabase } from '../../support/global-postgres.ts';
import { recordsOf, requestCount, TestHost } from './database-fixture.ts';
import { arrive, chat, identify, outcome, until } from './fixture.ts';

let account: string;
let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  account = randomUUID();
  await database.query(`INSERT INTO account (id, name) VALUES (?, 'test')`, [account]);
});

const error = (code: ErrorCode) => new GatewayError(code, 'this is why');

describe('log stage', () => {
  it.each<[string, Partial<Outcome>]>([
    ['a 200', {}],
    ['a 400', { kind: 'refused', status: 400, error: error('invalid_request') }],
    ['a 401', { kind: 'refused', status: 401, error: error('invalid_api_key') }],
    ['a 402', { kind: 'refused', status: 402, error: error('plan_inactive') }],
    ['a 413', { kind: 'refused', status: 413, error: error('request_too_large') }],
    ['a 429', { kind: 'refused', status: 429, error: error('rate_limited') }],
    ['a 500', { kind: 'failed', status: 500, error: error('internal_error') }],
    ['a 502', { kind: 'failed', status: 502, error: error('upstream_failed') }],
    ['a stream that broke off', { kind: 'failed', status: 200, error: error('upstream_failed') }],
    ['a client that left', { kind: 'aborted', status: undefined, bytesSent: 0, firstByteAfter: undefined }],
  ])('leaves exactly one record of %s, and counts it', async (_, ending) => {
    await using test = new TestHost(database);
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
    pipeline.start(exchange);
    await pipeline.answer(exchange);
    await pipeline.finish(exchange, outcome(ending));
    await test.stop();
    expect(await recordsOf(database, [exchange.id])).toMatchObject([
      {
        outcome: ending.kind ?? 'answered',
        status: 'status' in ending ? (ending.status ?? null) : 200,
        error_code: ending.error?.code ?? null,
      },
    ]);
    expect(await requestCount(database, account)).toBe(1);
    expect(test.log.lines.filter((text) => !text.includes('failed inside the gateway'))).toEqual([]);
  });

  it('records a request that an earlier stage refused', async () => {
    await using test = new TestHost(database);
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
    pipeline.start(exchange);
    await pipeline.answer(exchange);
    // Nothing of the answer has been sent yet.
    expect(test.folder.text()).toContain(exchange.id);
    const refused = { kind: 'refused', status: 401, error: exchange.failure } as const;
    await pipeline.finish(exchange, outcome(refused));
    await test.stop();
    expect(await recordsOf(database, [exchange.id])).toMatchObject([
      { outcome: 'refused', status: 401, error_code: 'invalid_api_key', account_id: null },
    ]);
  });

  it('counts requests of no account, records a few of them, and all that have a known key', async () => {
    let now = Date.now();
    await using test = new TestHost(database, () => now);
    const stage = test.createStage();
    const run = (remoteAddress: string, status: number, isKnown: boolean) => {
      const exchange = arrive({ remoteAddress });
      stage.start?.(exchange);
      if (isKnown) identify(exchange, account);
      else exchange.set(unauthenticated, true);
      stage.done?.(exchange, outcome({ kind: 'refused', status, error: error('invalid_api_key') }));
      return exchange.id;
    };
    const strangers = Array.from({ length: 600 }, (_, index) => run('198.51.100.9', index < 60 ? 401 : 429, false));
    const known = Array.from({ length: 600 }, () => run('198.51.100.9', 429, true));
    now += 60_000;
    strangers.push(run('198.51.100.200', 429, false));
    await test.stop();
    expect(await recordsOf(database, known)).toHaveLength(600);
    expect(await requestCount(database, account)).toBe(600);
    expect(await recordsOf(database, strangers)).toHaveLength(2 * bounds.unauthenticatedRecords.perKind + 1);
    const { requests, blocks } = await readUnauthenticated(database, now - 60_000, 10);
    expect(requests).toBe(601);
    expect(blocks).toEqual([
      {
        block: '198.51.100.0/24',
        requests: 601,
        lastMinute: startOfMinute(now),
        statuses: [
          { status: 429, requests: 541 },
          { status: 401, requests: 60 },
        ],
      },
    ]);
  });

  it('records notes of the translation and estimated usage', async () => {
    await using test = new TestHost(database);
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
    expect(await recordsOf(database, ids)).toMatchObject([
      { notes, usage_estimated: true, attempts: [{ route: 'one/a', format: 'messages' }] },
      { notes: null, usage_estimated: false },
      { notes: null, usage_estimated: null },
    ]);
  });

  it('keeps its journal across a reload', async () => {
    await using test = new TestHost(database);
    const before = test.createStage();
    const exchange = arrive();
    before.start?.(exchange);
    const after = test.createStage();
    after.start?.(arrive());
    before.done?.(exchange, outcome());
    expect(test.folder.journal()).toHaveLength(1);
  });

  it('records CR LF, terminal escapes and NUL of a user agent as escapes', async () => {
    await using test = new TestHost(database);
    const stage = test.createStage();
    const exchange = arrive({ headers: { 'user-agent': 'a\r\nb\u001b[2Jc\u0000' } });
    stage.start?.(exchange);
    stage.done?.(exchange, outcome());
    await test.stop();
    const [record] = await recordsOf(database, [exchange.id]);
    expect(record?.user_agent).toBe('a\\x0d\\x0ab\\x1b[2Jc\\x00');
  });

  it('counts unmetered and refused requests too, as pages do', async () => {
    await using test = new TestHost(database);
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
    expect(await requestCount(database, account)).toBe(2_100);
  });

  it('keeps records while the database is unavailable, and ships them within ten seconds of its return', async () => {
    await using test = new TestHost(database);
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
    await until(() => test.log.lines.some((text) => text.includes('are waiting on disk')));
    await execute(admin, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    const ids = exchanges.map(({ id }) => id);
    await until(async () => (await recordsOf(database, ids)).length === 300);
    expect(await requestCount(database, account)).toBe(300);
  });

  it('moves refused records aside and inserts the others', async () => {
    await using test = new TestHost(database);
    const stage = test.createStage();
    const exchanges = Array.from({ length: 9 }, (_, index) => {
      return identify(arrive(), index === 4 ? 'no-uuid' : account);
    });
    for (const exchange of exchanges) {
      stage.start?.(exchange);
      stage.done?.(exchange, outcome());
    }
    await test.stop();
    expect(
      await recordsOf(
        database,
        exchanges.map(({ id }) => id),
      ),
    ).toHaveLength(8);
    expect(await requestCount(database, account)).toBe(8);
    const file = test.log.lines[0]?.match(/moved to (.*\.ndjson): /)?.[1] ?? '';
    expect(file).toContain(join(test.folder.path, 'journal', 'rejected'));
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ id: exchanges[4]?.id, account_id: 'no-uuid' });
  });
});
