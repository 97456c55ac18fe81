import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { generateApiKey, hintOfApiKey } from '#core/accounts/api-key.ts';
import type { Database } from '#core/database/database.ts';
import { bounds } from '#core/bounds.ts';
import { ContentLines, Excerpt } from '../../../plugins/log/content.ts';
import { dropPartitionsBefore, ensurePartition, partitionNames } from '../../../plugins/log/partitions.ts';
import { isRefused, PostgresRecordStore } from '../../../plugins/log/record-store.ts';
import { RequestLog } from '../../../plugins/log/request-log.ts';
import { createTestDatabase } from '../../support/database.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { arrive, identify, MemoryLog, MemoryStore, outcome, TemporaryFolder, until } from './fixture.ts';

interface Content {
  readonly part: string;
  readonly is_cut: boolean;
  readonly body: string;
}

/** What the lines say of a request whose body and answer were these. */
function contentOf(body: Buffer | string, reply: readonly (Buffer | string)[], maxBytes = 100): Content[] {
  const excerpt = new Excerpt(maxBytes);
  for (const chunk of reply) excerpt.add(chunk);
  const received = Buffer.from(body as string);
  const exchange = arrive({ body: { ...arrive().body, received } });
  return new ContentLines(maxBytes, 'dp').of(exchange, excerpt).map((line) => {
    expect(line).toMatch(/^[ -~]*$/);
    const { part, is_cut, body: encoded } = JSON.parse(line) as Content;
    return { part, is_cut, body: Buffer.from(encoded, 'base64').toString() };
  });
}

const line = (id: string, changes: object = {}) =>
  JSON.stringify({
    at: 'content',
    id,
    started_at: Date.UTC(2031, 1, 3),
    part: 'request',
    is_cut: false,
    body: Buffer.from('語').toString('base64'),
    ...changes,
  });

const chunk = (content: string, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'model-there',
  choices: [{ index: 0, delta: { content }, finish_reason }],
});

const ask = (content: string, more: object = {}) => ({
  model: 'test',
  messages: [{ role: 'user', content }],
  ...more,
});

const replyOf = (chunks: readonly (Buffer | string)[], maxBytes?: number) => contentOf('', chunks, maxBytes)[0];

describe('what is kept', () => {
  it('is the body of the request and, put together, that of the answer', () => {
    expect(contentOf('{"a":1}', ['data: 1\n\n', Buffer.from('data: [DONE]\n\n')])).toEqual([
      { part: 'request', is_cut: false, body: '{"a":1}' },
      { part: 'reply', is_cut: false, body: 'data: 1\n\ndata: [DONE]\n\n' },
    ]);
  });

  it('is nothing where nothing was said', () => {
    expect(contentOf('', [])).toEqual([]);
  });

  it.each([
    ['as large as the bound', 'a'.repeat(100), 'a'.repeat(100), false],
    ['a byte larger', 'a'.repeat(101), 'a'.repeat(100), true],
    ['a thousand times as large', 'a'.repeat(100_000), 'a'.repeat(100), true],
    ['larger by a character of four bytes', `${'a'.repeat(98)}😀`, 'a'.repeat(98), true],
    ['all of characters of three bytes', '語'.repeat(200), '語'.repeat(33), true],
  ])('ends at the bound, between two characters, and says so: %s', (_, text, body, is_cut) => {
    expect(contentOf(text, [])).toEqual([{ part: 'request', is_cut, body }]);
    expect(replyOf([text])).toEqual({ part: 'reply', is_cut, body });
    expect(replyOf(text.match(/.{1,7}/gu) ?? [])).toEqual({ part: 'reply', is_cut, body });
    const bytes = [...Buffer.from(text).subarray(0, 400)].map((byte) => Buffer.of(byte));
    expect(replyOf(bytes)).toEqual({ part: 'reply', is_cut, body });
  });

  it('has a mark for what is no text', () => {
    expect(replyOf([Buffer.from([0x61, 0x00, 0xff, 0x62])])?.body).toBe('a\ufffd\ufffdb');
    expect(replyOf(['\ud800 \u0000 \udc00'])?.body).toBe('\ufffd \ufffd \ufffd');
  });

  it('never has more memory than the bound and a little', () => {
    const excerpt = new Excerpt(100);
    for (let round = 0; round < 10_000; round++) excerpt.add(Buffer.alloc(1_000));
    expect(excerpt.read().bytes.length).toBeLessThan(300);
  });

  it('is untouched by what happens to a chunk later', () => {
    const excerpt = new Excerpt(100);
    const bytes = Buffer.from('first');
    excerpt.add(bytes);
    bytes.fill('x');
    expect(excerpt.read().bytes.toString()).toBe('first');
  });
});

describe('a key of the gateway', () => {
  const key = generateApiKey('dp');
  const hint = hintOfApiKey(key, 'dp');
  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;

  it.each([
    ['alone', key, hint],
    ['in JSON', `{"key":"${key}\\n"}`, `{"key":"${hint}\\n"}`],
    ['twice without anything between', key + key, hint + hint],
    ['behind a letter', `x${key}`, `x${hint}`],
    ['behind something like it', `dp_aaaaaaaaaaaaaaaaaaaa${key}`, `[key]${hint}`],
    ['with a typing error', wrong, '[key]'],
    ['half of it', `${key.slice(0, 30)} `, '[key] '],
  ])('is on no record: %s', (_, text, body) => {
    expect(contentOf(text, [], 200)[0]?.body).toBe(body);
  });

  it('is on no record when it is cut, wherever that happens', () => {
    for (let before = 0; before < 60; before++) {
      const body = contentOf(`${' '.repeat(before)}${key}`.repeat(9), [], 60)[0]?.body ?? '';
      expect(body).not.toMatch(/dp_[0-9A-Za-z]{5}/);
    }
  });

  it('is found when the chunks of the answer go through it', () => {
    expect(replyOf([key.slice(0, 10), key.slice(10, 30), key.slice(30)])?.body).toBe(hint);
  });

  it.each(['dp_short', 'schema_dp_name', 'xdp_aaaaaaaaaaaaaaaaaaaaaa', 'sk-aaaaaaaaaaaaaaaaaaaaaaaaaaa'])(
    'is not seen in %s',
    (text) => {
      expect(contentOf(text, [])[0]?.body).toBe(text);
    },
  );
});

it('has room in the journal at its largest, both ways, and behind others', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  const log = new MemoryLog();
  {
    await using requestLog = new RequestLog({ dataFolder: folder.path, instance: 'test', log, store });
    const text = '\u0000語😀'.repeat(bounds.loggedContent);
    for (let round = 0; round < 9; round++) {
      const exchange = identify(arrive({ body: { ...arrive().body, received: Buffer.from(text) } }));
      const excerpt = new Excerpt(bounds.loggedContent);
      excerpt.add(text);
      requestLog.journal.begin(exchange);
      const content = new ContentLines(bounds.loggedContent, 'dp').of(exchange, excerpt);
      expect(content.map(({ length }) => length > 170_000)).toEqual([true, true]);
      requestLog.journal.end(exchange, outcome(), content);
    }
  }
  expect(log.lines).toEqual([]);
  expect(store.records.size).toBe(9);
  expect(store.contents.size).toBe(18);
  for (const body of store.contents.values()) expect(Buffer.byteLength(body)).toBeGreaterThan(bounds.loggedContent - 4);
});

describe('the table of contents', () => {
  let database: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  it('keeps a line once, however often it is shipped, in the partition of its day', async () => {
    const store = new PostgresRecordStore(database);
    const id = randomUUID();
    await store.insertContent([line(id)]);
    await store.insertContent([line(id), line(id, { part: 'reply' }), line(id)]);
    expect(
      await database.query(
        'SELECT part, body, tableoid::regclass::text AS name FROM request_content WHERE id = ? ORDER BY part',
        [id],
      ),
    ).toEqual([
      { part: 'reply', body: '語', name: 'request_content_20310203' },
      { part: 'request', body: '語', name: 'request_content_20310203' },
    ]);
  });

  it.each([
    ['a part that is none', { part: 'other' }],
    ['a body that is no text', { body: '/w==' }],
    ['a body with NUL', { body: 'AA==' }],
  ])('refuses %s, and says that trying again is useless', async (_, changes) => {
    const store = new PostgresRecordStore(database);
    await expect(store.insertContent([line(randomUUID(), changes)])).rejects.toSatisfy(isRefused);
  });

  it('loses its old days as the records do, and only those', async () => {
    const day = Date.UTC(2022, 0, 1);
    for (const table of ['request_log', 'request_content'] as const) {
      await ensurePartition(database, day, table);
      await ensurePartition(database, day + 86_400_000, table);
    }
    expect(await dropPartitionsBefore(database, day + 86_400_000, 'request_content')).toEqual(['20220101']);
    expect(await partitionNames(database, 'request_content')).toContain('request_content_20220102');
    expect(await partitionNames(database)).toContain('request_log_20220101');
  });
});

describe('a gateway that keeps content', () => {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'model-there',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  let answer: Handler;
  let upstream: FaultyUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await createUpstream((request, response) => answer(request, response));
    const yaml = yamlFor(`${upstream.url}/v1`);
    gateway = await startGateway({
      yaml: yaml.replace('  - log\n', '  - log: { content: true, max_content_bytes: 4096 }\n'),
    });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  /** Sends a request, and returns what was answered and what is on record of it. */
  async function call(body: object, headers: Record<string, string> = {}): Promise<{ text: string; kept: Content[] }> {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}`, ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text().catch((error: unknown) => String(error));
    const id = response.headers.get('x-request-id');
    const { database } = gateway;
    // Content is shipped behind the record, and the reply behind the request.
    const kept = await vi.waitFor(
      async () => {
        const rows = await database.query<Content>(
          'SELECT part, is_cut, body FROM request_content WHERE id = ? ORDER BY part DESC',
          [id],
        );
        expect(rows.map(({ part }) => part)).toContain('reply');
        return rows;
      },
      { timeout: 15_000, interval: 20 },
    );
    return { text, kept };
  }

  it('has a whole answer as the client got it', async () => {
    answer = (_, response) => response.json(200, completion);
    const body = ask('hi \u0000 \ud800 語');
    const { text, kept } = await call(body);
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: 'hello' } }] });
    expect(kept).toEqual([
      { part: 'request', is_cut: false, body: JSON.stringify(body) },
      { part: 'reply', is_cut: false, body: text },
    ]);
  });

  it('has a streamed answer as the client got it', async () => {
    answer = (_, response) => {
      response.sse(chunk('hel'), chunk('lo', 'stop'), '[DONE]');
      response.end();
    };
    const { text, kept } = await call(ask('hi', { stream: true }));
    expect(text).toContain('[DONE]');
    expect(kept[1]).toEqual({ part: 'reply', is_cut: false, body: text });
  });

  it('has the error at the end of a stream that broke off', async () => {
    answer = (_, response) => {
      response.sse(chunk('hel'));
      response.cut();
    };
    const { text, kept } = await call(ask('hi', { stream: true }));
    expect(text).toContain('"error"');
    expect(kept[1]).toEqual({ part: 'reply', is_cut: false, body: text });
  });

  it('has an answer from the cache', async () => {
    answer = (_, response) => response.json(200, completion);
    const first = await call(ask('again'), { 'x-service-cache': '60' });
    answer = (_, response) => response.json(500, {});
    const second = await call(ask('again'), { 'x-service-cache': '60' });
    expect(second.text).toBe(first.text);
    expect(second.kept).toEqual(first.kept);
    expect(second.kept).toHaveLength(2);
  });

  it('has a refusal, and of the request what was read for it', async () => {
    const unknown = await call({ ...ask('hi'), model: 'nobody' });
    expect(unknown.kept).toEqual([
      { part: 'request', is_cut: false, body: JSON.stringify({ ...ask('hi'), model: 'nobody' }) },
      { part: 'reply', is_cut: false, body: unknown.text },
    ]);
    const stranger = await call(ask('hi'), { authorization: 'Bearer dp_nobody' });
    expect(stranger.kept).toEqual([{ part: 'reply', is_cut: false, body: stranger.text }]);
  });

  it('cuts what is long, both ways, and cuts nothing for the client', async () => {
    const long = 'x'.repeat(1_000_000);
    answer = (_, response) => {
      response.sse(...Array.from({ length: 50 }, () => chunk('y'.repeat(10_000))), chunk('', 'stop'), '[DONE]');
      response.end();
    };
    const { text, kept } = await call(ask(long, { stream: true }));
    expect(text.length).toBeGreaterThan(500_000);
    expect(text).toContain('[DONE]');
    expect(kept).toEqual([
      { part: 'request', is_cut: true, body: JSON.stringify(ask(long, { stream: true })).slice(0, 4096) },
      { part: 'reply', is_cut: true, body: text.slice(0, 4096) },
    ]);
  });

  it('has no key, neither of the header nor of a body', async () => {
    const { key } = gateway;
    answer = (request, response) => {
      const { messages } = JSON.parse(request.body.toString()) as { messages: { content: string }[] };
      const [{ content } = { content: '' }] = messages;
      response.json(200, { ...completion, choices: [{ index: 0, message: { role: 'assistant', content } }] });
    };
    const { text, kept } = await call(ask(`my key is ${key}`));
    expect(text).toContain(key);
    for (const { body } of kept) {
      expect(body).not.toContain(key.slice(0, 12));
      expect(body).toContain(`my key is ${hintOfApiKey(key, 'dp')}`);
    }
  });

  it('keeps none when the option is off', async () => {
    await using plain = await startGateway({ yaml: yamlFor(`${upstream.url}/v1`) });
    answer = (_, response) => response.json(200, completion);
    await fetch(`${plain.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${plain.key}` },
      body: JSON.stringify(ask('hi')),
    }).then((response) => response.text());
    await until(async () => (await plain.database.query('SELECT 1 FROM request_log')).length === 1);
    expect(await plain.database.query('SELECT 1 FROM request_content')).toEqual([]);
  });
});
