import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { delivery } from '#core/facts.ts';
import { GatewayError } from '#core/errors/table.ts';
import { RequestLog, type RequestLogOptions } from '../../../plugins/log/request-log.ts';
import { arrive, identify, MemoryLog, MemoryStore, outcome, TemporaryFolder, until } from './fixture.ts';

interface Parts extends Partial<RequestLogOptions> {
  folder: TemporaryFolder;
}

function openLog({ folder, ...options }: Parts): RequestLog & { readonly out: string[] } {
  const log = new MemoryLog();
  const requestLog = new RequestLog({
    dataFolder: folder.path,
    instance: 'test',
    log,
    store: new MemoryStore(),
    segmentAge: 20,
    ...options,
  });
  return Object.assign(requestLog, { out: log.lines });
}

function linesOf(folder: TemporaryFolder): Record<string, unknown>[] {
  return folder
    .text()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a request is in the file before anybody who waits goes on', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder });
  const exchange = arrive();
  log.journal.begin(exchange);
  await Promise.resolve();
  expect(linesOf(folder)).toMatchObject([{ at: 'begin', id: exchange.id, started_at: exchange.receivedAt }]);
});

test('the lines of one turn are written together, after it', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder, segmentAge: 60_000 });
  const exchange = arrive();
  log.journal.begin(exchange);
  await Promise.resolve();
  const atBegin = folder.text().length;
  log.journal.enter(identify(exchange));
  log.journal.end(exchange, outcome());
  expect(folder.text().length).toBe(atBegin);
  await new Promise((resolve) => setImmediate(resolve));
  expect(linesOf(folder).map(({ at }) => at)).toEqual(['begin', 'enter', 'end']);
});

test('a request that passes every stage at once is begun in one line', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder });
  const exchange = arrive();
  log.journal.begin(exchange);
  log.journal.enter(identify(exchange));
  await Promise.resolve();
  expect(linesOf(folder)).toMatchObject([{ at: 'begin', id: exchange.id, model: 'gpt-5' }]);
});

test('an end is the whole record by itself', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const exchange = arrive({ receivedAt: 1_763_700_000_123 });
  {
    await using log = openLog({ folder, store });
    log.journal.begin(exchange);
    identify(exchange).set(delivery, {
      attempts: [
        {
          route: 'openai/gpt-5',
          startedAt: 1.2,
          duration: 30.6,
          outcome: 'failed',
          status: 500,
          fault: 'route',
          error: 'answered 500',
        },
        { route: 'other/gpt-5', format: 'messages', startedAt: 32, duration: 90, outcome: 'served', status: 200 },
      ],
      servedBy: 'other/gpt-5',
      usage: { input: 100, output: 20, cacheRead: 50, reasoning: 7 },
      notes: ['dropped logit_bias', 'approximated "x"'],
      firstContentAfter: 99.6,
    });
    log.journal.enter(exchange);
    log.journal.end(exchange, outcome());
  }
  expect([...store.records.values()]).toEqual([
    {
      at: 'end',
      id: exchange.id,
      started_at: 1_763_700_000_123,
      instance: 'test',
      account_id: '0193d0a2-1111-7222-8333-123456789abc',
      key_hint: 'dp_a1b2…wxyz',
      method: 'POST',
      path: '/v1/chat/completions',
      endpoint: 'chat',
      is_metered: true,
      format: 'chat',
      model: 'gpt-5',
      is_stream: false,
      route: 'other/gpt-5',
      has_failover: true,
      outcome: 'answered',
      status: 200,
      duration_ms: 120,
      first_byte_ms: 100,
      first_content_ms: 100,
      bytes_in: 1200,
      bytes_out: 412,
      input_tokens: 100,
      output_tokens: 20,
      cache_read_tokens: 50,
      reasoning_tokens: 7,
      usage_estimated: false,
      notes: ['dropped logit_bias', 'approximated "x"'],
      attempts: [
        {
          route: 'openai/gpt-5',
          outcome: 'failed',
          started_ms: 1,
          duration_ms: 31,
          status: 500,
          fault: 'route',
          error: 'answered 500',
        },
        { route: 'other/gpt-5', format: 'messages', outcome: 'served', started_ms: 32, duration_ms: 90, status: 200 },
      ],
      remote_address: '203.0.113.7',
      user_agent: 'OpenAI/JS 7.55.0',
    },
  ]);
});

test('strangers cannot break a line or an operator’s terminal', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const nasty = '\r\n{"at":"end"}\u001b[31m\u202e"\\\u0000\ud800é🙂';
  {
    await using log = openLog({ folder, store });
    const exchange = arrive({ headers: { 'user-agent': nasty } });
    log.journal.begin(exchange);
    await Promise.resolve();
    expect(folder.text().split('\n')).toHaveLength(2);
    log.journal.end(exchange, outcome());
  }
  expect(store.pluck('user_agent')).toEqual(['\\x0d\\x0a{"at":"end"}\\x1b[31m\\u202e"\\\\x00\ufffdé🙂']);
});

test('what strangers write is cut, numbers that cannot be are left out', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const widest = '\u202e'.repeat(100_000);
  {
    await using log = openLog({ folder, store });
    const exchange = arrive({
      path: widest,
      remoteAddress: widest,
      headers: { 'user-agent': widest, 'content-length': 'many' },
    });
    exchange.set(delivery, {
      attempts: Array.from({ length: 50 }, () => ({
        route: widest,
        startedAt: 0,
        duration: 1,
        outcome: 'failed' as const,
        error: widest,
      })),
      usage: { input: 1e12, output: -1, cacheRead: Number.NaN },
      notes: Array.from({ length: 1_000 }, () => widest),
      firstContentAfter: undefined,
    });
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome({ error: new GatewayError('upstream_failed', widest) }));
    await until(() => folder.journal().length > 0);
    expect(
      Math.max(
        ...folder
          .text()
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThan(65_536);
  }
  const [record] = store.records.values();
  expect(record).not.toHaveProperty('input_tokens');
  expect(record).not.toHaveProperty('output_tokens');
  expect(record).not.toHaveProperty('cache_read_tokens');
  expect(record).not.toHaveProperty('bytes_in');
  expect(record?.['notes']).toHaveLength(25);
});

test('no key gets into a record, neither by an error nor by a strange path', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const keys = ['sk-proj-abcdefghijklmnop123456', 'dp_0123456789abcdefABCDEF0123', 'AIzaSyA1234567890abcdefghijk'];
  {
    await using log = openLog({ folder, store });
    const unknown = { name: 'unknown', method: 'GET', path: '/v1/', isMetered: false } as const;
    const exchange = arrive({ endpoint: unknown, path: `/v1/${keys.join('/')}` });
    log.journal.begin(exchange);
    const error = new GatewayError('not_found', `there is nothing at ${keys.join(' ')}`);
    log.journal.end(exchange, outcome({ kind: 'refused', status: 404, error }));
  }
  const [record] = store.records.values();
  for (const key of keys) expect(JSON.stringify(record)).not.toContain(key);
  expect(record?.path).toBe('/v1/sk-pro…/dp_012…/AIzaSy…');
});

test('a request that spans segments is begun again in each, and recorded once', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const long = identify(arrive());
  {
    await using log = openLog({ folder, store });
    log.journal.begin(long);
    log.journal.enter(long);
    for (let round = 1; round <= 3; round++) {
      const short = arrive();
      log.journal.begin(short);
      log.journal.end(short, outcome());
      await until(() => store.records.size === round && log.journal.length === 0);
      expect(linesOf(folder)).toMatchObject([{ at: 'begin', id: long.id, model: 'gpt-5' }]);
    }
    log.journal.end(long, outcome());
  }
  expect(store.records.size).toBe(4);
  expect(store.records.get(long.id)).toMatchObject({ outcome: 'answered', model: 'gpt-5' });
  expect(folder.journal()).toEqual([]);
});

test('a segment is finished by size as well', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store, segmentBytes: 10_000, segmentAge: 60_000 });
  for (let index = 0; index < 100; index++) {
    const exchange = arrive();
    log.journal.begin(exchange);
    await Promise.resolve();
    log.journal.end(exchange, outcome());
  }
  expect(log.journal.length).toBeGreaterThan(3);
  for (const name of folder.journal()) {
    expect(statSync(join(folder.path, 'journal', name)).size).toBeLessThan(11_000);
  }
  store.isAway = false;
  await until(() => store.records.size >= 80);
});

test('while the database is away everything waits in few files, and gets there when it is back', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store, segmentAge: 1 });
  for (let index = 0; index < 200; index++) {
    const exchange = arrive();
    log.journal.begin(exchange);
    await Promise.resolve();
    log.journal.end(exchange, outcome());
    if (index % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 3));
  }
  await until(() => store.inserts > 1);
  expect(folder.journal().length).toBeLessThanOrEqual(3);
  expect(store.records.size).toBe(0);
  store.isAway = false;
  await until(() => store.records.size === 200);
  expect(log.out.filter((line) => line.startsWith('warn'))).toHaveLength(1);
  await until(() => log.out.some((line) => line.includes('reach the database again')));
});

test('beyond its bound the journal takes no more requests, counts them, and goes on when there is room', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store, segmentBytes: 4_000 });
  log.journal.maxBytes = 20_000;
  for (let index = 0; index < 200; index++) {
    const exchange = arrive();
    log.journal.begin(exchange);
    await Promise.resolve();
    log.journal.end(exchange, outcome());
  }
  const { lost } = log.journal;
  expect(lost).toBeGreaterThan(100);
  expect(folder.text().length).toBeLessThan(25_000);
  expect(log.out.find((line) => line.includes('without a record'))).toMatch(
    /^error 1 more requests without a record, 1 in all: the journal holds all the bytes/,
  );
  store.isAway = false;
  await until(() => store.records.size === 200 - lost);
  const late = arrive();
  log.journal.begin(late);
  log.journal.end(late, outcome());
  await until(() => store.records.has(late.id));
  expect(log.journal.lost).toBe(lost);
});

test('a line that is no record is set aside and holds up nobody', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.refused = 'poison';
  await using log = openLog({ folder, store });
  for (const agent of ['a', 'b', 'poison', 'c', 'd']) {
    const exchange = arrive({ headers: { 'user-agent': agent } });
    log.journal.begin(exchange);
    log.journal.end(exchange, outcome());
  }
  await until(() => log.out.some((line) => line.includes('set aside')));
  await until(() => log.journal.length === 0);
  expect(store.pluck('user_agent')).toEqual(['a', 'b', 'c', 'd']);
  const rejected = readFileSync(join(folder.path, 'journal', 'rejected', 'test-00000001.ndjson'), 'utf8');
  expect(JSON.parse(rejected)).toMatchObject({ at: 'end', user_agent: 'poison' });
});

test('what a dead instance has left is shipped, what it was doing is interrupted, a cut line is left out', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const ended = identify(arrive());
  const running = identify(arrive());
  const carried = identify(arrive());
  const cut = arrive();
  const left = new TemporaryFolder();
  {
    // Written by a journal whose shipper never gets through, then copied to where it counts.
    store.isAway = true;
    await using dead = openLog({ folder: left, store, instance: 'dead', segmentAge: 60_000 });
    for (const exchange of [carried, ended]) dead.journal.begin(exchange);
    dead.journal.enter(carried);
    dead.journal.roll();
    for (const exchange of [running, cut]) dead.journal.begin(exchange);
    dead.journal.enter(running);
    dead.journal.end(ended, outcome());
    await new Promise((resolve) => setImmediate(resolve));
    const journal = join(folder.path, 'journal');
    {
      await using _ = openLog({ folder, store: new MemoryStore() });
    }
    for (const name of left.journal()) {
      writeFileSync(join(journal, name), readFileSync(join(left.path, 'journal', name)));
    }
    appendFileSync(join(journal, 'dead-00000002.ndjson'), `{"at":"end","id":"${cut.id}","started_at":1763`);
    appendFileSync(join(journal, 'dead-00000001.ndjson'), `\u0000\u0000\u0000\n`);
  }
  left[Symbol.dispose]();
  store.isAway = false;
  store.records.clear();
  await using log = openLog({ folder, store });
  await until(() => log.out.some((line) => line.includes('everything that dead has left is on record')));
  expect(Object.fromEntries([...store.records].map(([id, record]) => [id, record.outcome]))).toEqual({
    [ended.id]: 'answered',
    [running.id]: 'interrupted',
    [carried.id]: 'interrupted',
    [cut.id]: 'interrupted',
  });
  expect(store.records.get(running.id)).toMatchObject({ instance: 'dead', model: 'gpt-5', key_hint: 'dp_a1b2…wxyz' });
  expect(folder.journal().filter((name) => name.startsWith('dead'))).toEqual([]);
  expect(log.out.filter((line) => line.includes('set aside'))).toHaveLength(1);
});

test('the journal of an instance that is alive is left alone', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  await using first = openLog({ folder, instance: 'first', store });
  const running = arrive();
  first.journal.begin(running);
  {
    await using second = openLog({ folder, instance: 'second', store });
    const other = arrive();
    second.journal.begin(other);
    second.journal.end(other, outcome());
    await until(() => store.records.size === 1);
  }
  expect(folder.journal()).toEqual(['first-00000001.ndjson']);
  first.journal.end(running, outcome());
  await until(() => store.records.size === 2);
  expect(store.pluck('instance')).toEqual(['second', 'first']);
});

test('a stop without the database leaves the records for the next start', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const [ended, running] = [arrive(), identify(arrive())];
  store.isAway = true;
  {
    await using log = openLog({ folder, store, instance: 'before' });
    for (const exchange of [ended, running]) log.journal.begin(exchange);
    log.journal.enter(running);
    log.journal.end(ended, outcome());
  }
  expect(store.records.size).toBe(0);
  store.isAway = false;
  await using _ = openLog({ folder, store, instance: 'after' });
  await until(() => store.records.size === 2);
  expect(store.pluck('outcome').toSorted()).toEqual(['answered', 'interrupted']);
});
