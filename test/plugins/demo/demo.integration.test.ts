import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Server } from '@hapi/hapi';
import { describe, expect, it } from 'vitest';
import type { Vendor } from '#core/catalog/catalog.ts';
import { answerChat } from '../../../plugins/demo/chat.ts';
import { Delivery } from '../../../plugins/demo/delivery.ts';
import { startDemoUpstream } from '../../../plugins/demo/server.ts';
import { plugin } from '../../../plugins/demo/index.ts';
import { silentLog } from '../../support/database.ts';
import { DemoFixture } from './fixture.ts';

const demo = new DemoFixture();
/** At this pace the first token takes hours. */
const hours = 100_000;
const hello = { model: 'chatty', messages: [{ role: 'user', content: 'Hello there' }] };

describe('the vendor', () => {
  it('is marked as a demo, needs no key and starts its own server', async () => {
    const vendors: Vendor[] = [];
    await plugin.register({ gateway: { vendor: (vendor: Vendor) => vendors.push(vendor) } } as unknown as Server);
    const [vendor] = vendors;
    expect(vendor).toMatchObject({ name: 'demo', isDemo: true, auth: 'none' });
    expect(vendor?.formats).toEqual(['chat', 'responses', 'messages', 'images']);
    await using server = await vendor!.start!({ log: silentLog });
    const models = await fetch(`${server.baseUrl}/models`);
    expect(models.status).toBe(200);
  });
});

describe('the server', () => {
  it('marks every answer as a demo', async () => {
    for (const answer of [
      await demo.post('/v1/chat/completions', hello),
      await demo.post('/v1/chat/completions', { ...hello, model: 'fail-500' }),
      await fetch(`${demo.url}/v1/models`),
      await fetch(`${demo.url}/elsewhere`),
    ]) {
      expect(answer.headers.get('x-demo')).toBe('true');
      expect(answer.headers.get('request-id')).toMatch(/^req_demo/);
      await answer.body?.cancel();
    }
  });

  it('lists its models for both families of clients', async () => {
    const forOpenai = await Array.fromAsync(demo.openai.models.list());
    const forAnthropic = await Array.fromAsync(demo.anthropic.models.list());
    expect(forOpenai.map(({ id }) => id)).toContain('chatty');
    expect(forAnthropic.map(({ id }) => id)).toEqual(forOpenai.map(({ id }) => id));
  });

  it('answers what it does not know with 404, in the words of the path', async () => {
    const openai = await demo.post('/v1/embeddings', {});
    expect(openai.status).toBe(404);
    expect(await openai.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    const anthropic = await demo.post('/v1/messages/batches', {});
    expect(anthropic.status).toBe(404);
    expect(await anthropic.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  });

  it.each([
    ['not JSON', '{"model":'],
    ['no object', '[1]'],
    [
      'nested too deeply',
      `{"model":"chatty","messages":[{"role":"user","content":${'['.repeat(5_000)}${']'.repeat(5_000)}}]}`,
    ],
    ['without a model', '{"messages":[{"role":"user","content":"x"}]}'],
    ['without messages', '{"model":"chatty"}'],
    ['with an empty list of messages', '{"model":"chatty","messages":[]}'],
    ['with a limit that is none', '{"model":"chatty","messages":[{"role":"user","content":"x"}],"max_tokens":-1}'],
    ['with messages of the wrong type', '{"model":"chatty","messages":[1]}'],
  ])('refuses a body that is %s with 400', async (_, body) => {
    const answer = await demo.post('/v1/chat/completions', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('refuses other methods with 405', async () => {
    const answer = await fetch(`${demo.url}/v1/chat/completions`);
    expect(answer.status).toBe(405);
  });

  it.each(['call ', '<system-reminder>', '[[ ', '1.', '"', 'A '])('answers a megabyte of %j at once', async (word) => {
    const messages = [{ role: 'user', content: word.repeat(1_000_000 / word.length) }];
    const answer = await demo.post('/v1/chat/completions', { model: 'chatty', messages });
    expect(answer.status).toBe(200);
  });
});

describe('the delivery', () => {
  it('ends when the client leaves, whatever it was waiting for', async () => {
    await using stream = await deliver(0, hours);
    stream.client.destroy();
    await stream.over;
    expect(stream.response.destroyed).toBe(true);
  });

  it('writes no faster than the client reads', async () => {
    await using stream = await deliver(20_000, 0);
    // Several turns: the buffers of the system are full, and nothing more is taken into ours.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(stream.response.writableNeedDrain).toBe(true);
    expect(stream.response.writableLength).toBeLessThan(200_000);
    stream.client.resume();
    await stream.over;
    expect(stream.response.writableEnded).toBe(true);
  });
});

describe('faults', () => {
  const paths = {
    chat: ['/v1/chat/completions', hello],
    responses: ['/v1/responses', { model: 'chatty', input: 'Hello there' }],
    messages: ['/v1/messages', { ...hello, max_tokens: 500 }],
    images: ['/v1/images/generations', { model: 'chatty', prompt: 'a cat' }],
  } as const;
  const cases = Object.entries(paths).flatMap(([format, [path, body]]) =>
    [false, true].map((stream) => ({ format, path, body: { ...body, stream } as Record<string, unknown>, stream })),
  );

  it.each(cases)('fails with a status in $format, stream $stream', async ({ format, path, body }) => {
    const answer = await demo.post(path, { ...body, model: 'fail-429' });
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(await answer.json()).toMatchObject({ error: { type: 'rate_limit_error' } });
    expect((await demo.post(path, { ...body, model: 'fail-418' })).status).toBe(418);
    if (format === 'messages') {
      const overloaded = await demo.post(path, { ...body, model: 'fail-529' });
      expect(await overloaded.json()).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    }
  });

  it.each(cases)('answers with a page of HTML, or nothing, in $format, stream $stream', async ({ path, body }) => {
    const page = await demo.post(path, { ...body, model: 'html' });
    expect(page.status).toBe(502);
    expect(page.headers.get('content-type')).toContain('text/html');
    const empty = await demo.post(path, { ...body, model: 'empty' });
    expect(empty.status).toBe(200);
    expect(await empty.text()).toBe('');
  });

  it.each(cases)('reports an error with status 200 in $format, stream $stream', async ({ path, body, stream }) => {
    const answer = await demo.post(path, { ...body, model: 'error-event' });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    const data = stream ? /^(?:event: .*\n)?data: (.*)\n\n$/.exec(text)?.[1] : text;
    const error = JSON.parse(data ?? '') as { type?: string; error?: unknown; status?: string };
    expect(typeof error.error === 'object' || error.type === 'error').toBe(true);
  });

  it.each(cases)('stalls after the headers in $format, stream $stream', async ({ path, body }) => {
    const controller = new AbortController();
    const answer = await demo.post(path, { ...body, model: 'stall' }, controller.signal);
    expect(answer.status).toBe(200);
    const rest = answer.text();
    controller.abort();
    await expect(rest).rejects.toThrow('aborted');
  });

  it.each(cases)('breaks the answer off in the middle in $format, stream $stream', async ({ path, body }) => {
    const answer = await demo.post(path, { ...body, model: 'cut' });
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  it.each(cases)('stalls in the middle of an answer in $format, stream $stream', async ({ path, body }) => {
    const controller = new AbortController();
    const answer = await demo.post(path, { ...body, model: 'stall-midway' }, controller.signal);
    const reader = answer.body!.getReader();
    expect((await reader.read()).value?.length).toBeGreaterThan(10);
    controller.abort();
    await expect(drain(reader)).rejects.toThrow('aborted');
  });

  it('reports an error after half of a stream in every format', async () => {
    const endings: Record<string, unknown> = {};
    for (const { format, path, body } of cases.filter(({ stream }) => stream)) {
      const answer = await demo.post(path, { ...body, model: 'error-midway', partial_images: 2 });
      const events = (await answer.text()).trim().split('\n\n');
      expect(events.length).toBeGreaterThan(2);
      const last = JSON.parse(events.at(-1)!.replace(/^.*data: /s, '')) as { type?: string; error?: { type: string } };
      endings[format] = last.type ?? last.error?.type;
    }
    expect(endings).toEqual({ chat: 'server_error', responses: 'response.failed', messages: 'error', images: 'error' });
  });

  it('waits before the first byte of a slow model', async () => {
    await using slow = await startDemoUpstream({ pace: hours });
    const request = { method: 'POST', body: JSON.stringify({ ...hello, model: 'slow' }) };
    const never = fetch(`${slow.url}/v1/chat/completions`, { ...request, signal: AbortSignal.timeout(200) });
    await expect(never).rejects.toThrow('timeout');
    expect((await demo.post('/v1/chat/completions', { ...hello, model: 'slow' })).status).toBe(200);
  });

  it.each([
    ['[[status 503]]', 503],
    ['please [[ Status 404 ]] now', 404],
    ['[[fail-500]]', 500],
    ['[[words 3]] and [[html]]', 502],
    ['[[status 200]]', 200],
    ['[[unknown]]', 200],
    ['status 503', 200],
  ])('obeys the directive in “%s”', async (content, status) => {
    const answer = await demo.post('/v1/chat/completions', { ...hello, messages: [{ role: 'user', content }] });
    expect(answer.status).toBe(status);
    await answer.body?.cancel();
  });

  it('obeys only what the user has written last', async () => {
    const messages = [
      { role: 'user', content: '[[status 500]]' },
      { role: 'assistant', content: 'sorry' },
      { role: 'user', content: 'again, please' },
    ];
    expect((await demo.post('/v1/chat/completions', { ...hello, messages })).status).toBe(200);
  });

  it('answers under any other name', async () => {
    const answer = await demo.openai.chat.completions.create({
      model: 'gpt-5',
      messages: [{ role: 'user', content: 'x' }],
    });
    expect(answer.model).toBe('gpt-5');
  });
});

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

/** Delivers a stream of so many words to the only client of a server, and tells when it is over. */
async function deliver(words: number, pace: number) {
  const begun = Promise.withResolvers<{ response: ServerResponse; over: Promise<void> }>();
  const server = createServer((_, response) => {
    const content = `[[words ${words}]]`;
    const answer = answerChat({ ...hello, stream: true, messages: [{ role: 'user', content }] });
    begun.resolve({ response, over: new Delivery(response, pace).send(answer, undefined, 'openai') });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.pause().write('GET / HTTP/1.1\r\nhost: demo\r\n\r\n');
  return {
    client,
    ...(await begun.promise),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
