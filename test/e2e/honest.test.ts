import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { findRequest } from '#core/gateway/records/read-requests.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import { recompute } from '../honest/recompute.ts';
import { answers } from '../plugins/upstream/streams-fixture.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { type TextFormat, textFormats } from '../support/formats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readBody } from '../support/read-body.ts';

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
const said = digestOf('one two');

const serve: Handler = ({ path, body }, response) => {
  const format = textFormats.find((name) => path.startsWith(`/${name}/`)) as TextFormat;
  const { whole, opening, content, closing } = answers[format];
  const given = body.includes('Name nothing.') ? { ...whole, model: undefined } : whole;
  if (!path.includes('streamGenerateContent') && !body.includes('"stream":true')) return response.json(200, given);
  response.send(200, { 'content-type': 'text/event-stream' }, [...opening, ...content, ...closing].join(''));
};

/** A stage that changes texts where the client asks for it. */
const mask = `
import { defineStage, mapText } from 'daypass';
export const mask = defineStage({
  name: 'mask',
  description: 'Masks a word.',
  create: () => ({
    leave: (exchange, reply) =>
      exchange.headers['x-mask'] === undefined ? undefined : mapText(exchange, reply, (text) => text.replace('two', '***')),
  }),
});`;

let upstream: FaultyUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await createUpstream(serve);
  gateway = await startGateway({
    files: { 'mask.ts': mask },
    yaml: `
plugins: [./mask.ts]
pipeline: [auth, mask, cache, format, upstream, log]
dashboard: { routes: numbers }
upstreams:
${textFormats.map((format) => `  ${format}: { format: ${format}, base_url: "${upstream.url}/${format}" }`).join('\n')}
models:
${textFormats.map((format) => `  my-${format}: { routes: [${format}/vendor-model] }`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

interface Sent {
  readonly isStream?: boolean;
  readonly prompt?: string;
  readonly headers?: Record<string, string>;
}

async function send(client: TextFormat, route: TextFormat, { isStream = false, prompt = 'Go.', headers = {} }: Sent) {
  const model = `my-${route}`;
  const messages = [{ role: 'user', content: prompt }];
  const asks = {
    chat: ['/v1/chat/completions', { model, messages, stream: isStream }],
    messages: ['/v1/messages', { model, messages, max_tokens: 9, stream: isStream }],
    responses: ['/v1/responses', { model, input: prompt, stream: isStream }],
    gemini: [
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: prompt }] }] },
    ],
  } as const;
  const [path, body] = asks[client];
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const { text } = await readBody(answer);
  return { text, id: answer.headers.get('x-request-id') ?? '' };
}

async function recordOf(id: string): Promise<RequestRecord> {
  // Not `expect.poll`, which belongs to one test at a time.
  return vi.waitFor(
    async () => {
      const record = await findRequest(gateway.database, id, gateway.accountId);
      if (record?.outcome == null) throw new Error(`no record of ${id} yet`);
      return record;
    },
    { timeout: 20_000 },
  );
}

const pairs = textFormats.flatMap((client) => textFormats.map((route) => [client, route] as const));

// Each waits a second for its record.
describe.concurrent.each(pairs)('the record of an answer to a %s client from a %s route', (client, route) => {
  it.each([true, false])('has the digest that the client computes, streamed: %s', async (isStream) => {
    const { text, id } = await send(client, route, { isStream });
    const { digest_received, digest_sent, digest_changes } = await recordOf(id);
    expect([digest_received, digest_sent, digest_changes]).toEqual([said, said, null]);
    expect(recompute(text)).toBe(said);
  });
});

describe('the digest of what was sent', () => {
  it.each([true, false])('is that of the text as a stage has changed it, streamed: %s', async (isStream) => {
    const { text, id } = await send('messages', 'chat', { isStream, headers: { 'x-mask': 'yes' } });
    const { digest_received, digest_sent, digest_changes } = await recordOf(id);
    expect([digest_received, digest_sent, digest_changes]).toEqual([said, digestOf('one ***'), ['stage']]);
    expect(recompute(text)).toBe(digest_sent);
  });

  it('is that of the stored answer for a cache hit, even if a stage has changed it', async () => {
    for (const [masks, sent] of [
      [{}, said],
      [{ 'x-mask': 'yes' }, digestOf('one ***')],
    ] as const) {
      const headers = { 'x-service-cache': '600', ...masks };
      await send('chat', 'chat', { headers, prompt: 'Cache it.' });
      const { id } = await send('chat', 'chat', { headers, prompt: 'Cache it.' });
      const record = await recordOf(id);
      expect([record.cache, record.digest_sent]).toEqual(['hit', sent]);
    }
  });
});

describe('the record of an answer', () => {
  it('says which model the vendor has named, and that it is another one', async () => {
    const { id } = await send('messages', 'messages', {});
    expect(await recordOf(id)).toMatchObject({ answered_model: 'm', is_other_model: true });
  });

  it('names no model where the vendor names none', async () => {
    const { id } = await send('chat', 'chat', { prompt: 'Name nothing.' });
    expect(await recordOf(id)).toMatchObject({ answered_model: null, is_other_model: false });
  });
});

const get = (id: string) =>
  fetch(`${gateway.url}/v1/requests/${id}`, { headers: { authorization: `Bearer ${gateway.key}` } });

describe('GET /v1/requests/{id}', () => {
  it('shows a request of the account, and of its route what its customers see', async () => {
    const { id } = await send('chat', 'messages', { isStream: true });
    await recordOf(id);
    const answer = await get(id);
    const body = (await answer.json()) as object;
    expect(body).toMatchObject({
      object: 'request',
      id,
      outcome: 'answered',
      route: 1,
      digest: { algorithm: 'sha256', received: said, sent: said, changes: [] },
    });
    expect(body).not.toHaveProperty('answered_model');
  });

  it('knows no other request', async () => {
    const { id } = await send('chat', 'chat', {});
    await recordOf(id);
    await gateway.database.query('UPDATE request_log SET account_id = gen_random_uuid() WHERE id = ?', [id]);
    const answer = await get(id);
    expect(answer.status).toBe(404);
    expect(((await answer.json()) as { error: { message: string } }).error.message).toContain('not found');
  });

  it('says that the record of a new request may come', async () => {
    const answer = await get(createRequestId(Date.now()));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([404, '2']);
    expect(await answer.text()).toContain('about a second after the request ends');
  });

  it('refuses what is no id', async () => {
    const answer = await get('42');
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('is not a request id');
  });
});
