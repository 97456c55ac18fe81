import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { maskApiKey } from '#core/business/accounts/api-key.ts';
import type { Database } from '#core/platform/database/database.ts';
import { dropPartitionsBefore, ensurePartition, listPartitionNames } from '../../../plugins/log/partitions.ts';
import { isRecordRefused, PostgresRecordStore } from '../../../plugins/log/record-store.ts';
import { createTestDatabase } from '../../support/database.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { readBody } from '../../support/read-body.ts';
import { until } from './fixture.ts';

interface Content {
  readonly part: string;
  readonly is_cut: boolean;
  readonly body: string;
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

describe('request_content', () => {
  let database: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  it('stores a line once, in the partition of its day', async () => {
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
  ])('refuses %s for good', async (_, changes) => {
    const store = new PostgresRecordStore(database);
    await expect(store.insertContent([line(randomUUID(), changes)])).rejects.toSatisfy(isRecordRefused);
  });

  it('drops its expired days separately from records', async () => {
    const day = Date.UTC(2022, 0, 1);
    for (const table of ['request_log', 'request_content'] as const) {
      await ensurePartition(database, day, table);
      await ensurePartition(database, day + 86_400_000, table);
    }
    expect(await dropPartitionsBefore(database, day + 86_400_000, 'request_content')).toEqual(['20220101']);
    expect(await listPartitionNames(database, 'request_content')).toContain('request_content_20220102');
    expect(await listPartitionNames(database)).toContain('request_log_20220101');
  });
});

describe('a gateway with content: true', () => {
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
    const { text } = await readBody(response);
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

  it('keeps a whole reply as the client got it', async () => {
    answer = (_, response) => response.json(200, completion);
    const body = ask('hi \u0000 \ud800 語');
    const { text, kept } = await call(body);
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: 'hello' } }] });
    expect(kept).toEqual([
      { part: 'request', is_cut: false, body: JSON.stringify(body) },
      { part: 'reply', is_cut: false, body: text },
    ]);
  });

  it('keeps a streamed reply as the client got it', async () => {
    answer = (_, response) => {
      response.sse(chunk('hel'), chunk('lo', 'stop'), '[DONE]');
      response.end();
    };
    const { text, kept } = await call(ask('hi', { stream: true }));
    expect(text).toContain('[DONE]');
    expect(kept[1]).toEqual({ part: 'reply', is_cut: false, body: text });
  });

  it('keeps the error at the end of a broken stream', async () => {
    answer = async (_, response) => {
      response.sse(chunk('hel'));
      await response.passedOn();
      response.cut();
    };
    const { text, kept } = await call(ask('hi', { stream: true }));
    expect(text).toContain('"error"');
    expect(kept[1]).toEqual({ part: 'reply', is_cut: false, body: text });
  });

  it('keeps a reply from the cache', async () => {
    answer = (_, response) => response.json(200, completion);
    const first = await call(ask('again'), { 'x-service-cache': '60' });
    answer = (_, response) => response.json(500, {});
    const second = await call(ask('again'), { 'x-service-cache': '60' });
    expect(second.text).toBe(first.text);
    expect(second.kept).toEqual(first.kept);
    expect(second.kept).toHaveLength(2);
  });

  it('keeps a refusal, and the request when it was read', async () => {
    const unknown = await call({ ...ask('hi'), model: 'nobody' });
    expect(unknown.kept).toEqual([
      { part: 'request', is_cut: false, body: JSON.stringify({ ...ask('hi'), model: 'nobody' }) },
      { part: 'reply', is_cut: false, body: unknown.text },
    ]);
    const stranger = await call(ask('hi'), { authorization: 'Bearer dp-nobody' });
    expect(stranger.kept).toEqual([{ part: 'reply', is_cut: false, body: stranger.text }]);
  });

  it('truncates long bodies in the record only', async () => {
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

  it('redacts keys in both bodies', async () => {
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
      expect(body).toContain(`my key is ${maskApiKey(key, 'dp')}`);
    }
  });

  it('keeps no content by default', async () => {
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
