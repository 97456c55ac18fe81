import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Server } from '@hapi/hapi';
import { describe, expect, it } from 'vitest';
import type { Vendor } from '#core/config/catalog/catalog.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { createChatAnswer } from '../../../plugins/demo/chat-answer.ts';
import { parseChatRequest } from '../../../plugins/demo/chat-request.ts';
import { DemoDelivery } from '../../../plugins/demo/delivery.ts';
import { plugin } from '../../../plugins/demo/index.ts';
import { startDemoUpstream } from '../../../plugins/demo/server.ts';
import { silentLog } from '../../support/database.ts';
import { DemoFixture } from './fixture.ts';

const demo = new DemoFixture();
/** With this factor the first token takes hours. */
const hours = 100_000;
const hello = { model: 'chatty', messages: [{ role: 'user', content: 'Hello there' }] };

describe('demo vendor', () => {
  it('the demo vendor is marked as a demo, needs no key and starts its own server', async () => {
    const vendors: Vendor[] = [];
    await plugin.register({ gateway: { vendor: (vendor: Vendor) => vendors.push(vendor) } } as unknown as Server);
    const [vendor] = vendors;
    expect(vendor).toMatchObject({ name: 'demo', isDemo: true, auth: 'none' });
    expect(vendor?.formats).toEqual(expect.arrayContaining(['chat', 'images', 'embeddings']));
    await using server = await vendor!.start!({ log: silentLog });
    const models = await fetch(`${server.baseUrl}/models`);
    expect(models.status).toBe(200);
  });
});

describe('demo server', () => {
  it('the demo server refuses a request without its secret path before the body arrives', async () => {
    const { port } = new URL(demo.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n');
    const answer = Buffer.concat(await socket.toArray()).toString();
    expect(answer).toMatch(/^HTTP\/1.1 404 .*\r\nconnection: close\r\n/is);
  });

  it('the demo server marks every answer as a demo', async () => {
    for (const answer of [
      await demo.post(hello),
      await demo.post({ ...hello, model: 'fail-500' }),
      await fetch(`${demo.url}/v1/models`),
      await fetch(`${demo.url}/elsewhere`),
    ]) {
      expect(answer.headers.get('x-demo')).toBe('true');
      expect(answer.headers.get('x-request-id')).toMatch(/^req_demo/);
      await answer.body?.cancel();
    }
  });

  const odd: readonly unknown[] = [
    7,
    true,
    {},
    { toString: 1, valueOf: 2 },
    [7],
    [{ toString: 1, valueOf: 2 }],
    ['x', {}],
    [],
    null,
  ];
  const ask = { model: 'chatty', input: 'x', prompt: 'x', query: 'x', documents: ['x'], messages: hello.messages };
  const paths = ['completions', 'embeddings', 'images/generations', 'audio/speech', 'audio/transcriptions'];
  it.each([...paths, 'audio/translations', 'images/edits', 'moderations', 'rerank', 'chat/completions'])(
    'the demo server never fails at values of another type: %s',
    async (path) => {
      const names = [
        'n',
        'dimensions',
        'top_n',
        'bytes',
        'stream',
        'response_format',
        'tools',
        'tool_choice',
        'stop',
        'user',
      ];
      for (const name of [...Object.keys(ask), ...names])
        for (const value of [...odd, -1, 0.5, 1e300]) {
          const answer = await demo.post({ ...ask, [name]: value }, { path: `/v1/${path}` });
          await answer.body?.cancel();
          expect([name, value, answer.status < 500]).toEqual([name, value, true]);
        }
    },
  );

  it.each(
    odd.flatMap((value) =>
      [
        ['moderations', 'input'],
        ['rerank', 'query'],
        ['rerank', 'documents'],
        ['embeddings', 'input'],
      ].map(([path = '', name = '']) => [path, name, value] as const),
    ),
  )('the demo server of %s refuses for `%s` what is no text: %j', async (path, name, value) => {
    const answer = await demo.post({ ...ask, [name]: value }, { path: `/v1/${path}` });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param: name } }]);
  });

  it('the demo server answers a schema whose types are no texts', async () => {
    const schema = { type: 'object', required: ['x'], properties: { x: { type: [{ toString: 1, valueOf: 2 }] } } };
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    expect((await demo.post({ ...hello, response_format: format })).status).toBe(200);
  });

  it('the demo server moderates pictures as well as texts', async () => {
    const input = [
      { type: 'text', text: '[[harmful]]' },
      { type: 'image_url', image_url: { url: 'https://x' } },
    ];
    const answer = await demo.post({ ...ask, input }, { path: '/v1/moderations' });
    expect(await answer.json()).toMatchObject({ results: [{ flagged: true }, { flagged: false }] });
  });

  it('the demo server lists its models', async () => {
    const models = await Array.fromAsync(demo.openai.models.list());
    expect(models.map(({ id }) => id)).toContain('chatty');
  });

  it('the demo server answers any other path with 404', async () => {
    const answer = await demo.post({}, { path: '/v1/files' });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it.each([
    ['is not JSON', '{"model":'],
    ['is not an object', '[1]'],
    [
      'is nested too deeply',
      `{"model":"chatty","messages":[{"role":"user","content":${'['.repeat(5_000)}${']'.repeat(5_000)}}]}`,
    ],
    ['names no model', '{"messages":[{"role":"user","content":"x"}]}'],
    ['has no messages', '{"model":"chatty"}'],
    ['has an empty list of messages', '{"model":"chatty","messages":[]}'],
    ['has a negative limit', '{"model":"chatty","messages":[{"role":"user","content":"x"}],"max_tokens":-1}'],
    ['has messages of the wrong type', '{"model":"chatty","messages":[1]}'],
  ])('the demo server refuses a body that %s with 400', async (_, body) => {
    const answer = await demo.post(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('the demo server refuses other methods with 405', async () => {
    const answer = await fetch(`${demo.url}/v1/chat/completions`);
    expect(answer.status).toBe(405);
  });

  it.each(['call ', '<system-reminder>', '[[ ', '1.', '"', 'A '])(
    'the demo server answers a prompt of one megabyte of %j',
    async (word) => {
      const messages = [{ role: 'user', content: word.repeat(1_000_000 / word.length) }];
      const answer = await demo.post({ model: 'chatty', messages });
      expect(answer.status).toBe(200);
    },
  );
});

describe('demo delivery', () => {
  it('the demo stops its answer when the client disconnects', async () => {
    await using stream = await deliver(0, hours);
    stream.client.destroy();
    await stream.over;
    expect(stream.response.destroyed).toBe(true);
  });

  it('the demo writes no faster than the client reads', async () => {
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

describe.each([
  ['a whole answer', false],
  ['a stream', true],
])('faults in %s', (_, stream) => {
  const post = (model: string, signal?: AbortSignal) =>
    demo.post({ ...hello, model, stream }, signal === undefined ? {} : { signal });

  it('the model fail-429 answers with the status in its name', async () => {
    const limited = await post('fail-429');
    expect(limited.status).toBe(429);
    expect(limited.headers.get('retry-after')).toBe('2');
    expect(await limited.json()).toMatchObject({ error: { type: 'rate_limit_error' } });
    expect((await post('fail-418')).status).toBe(418);
  });

  it('the model html answers with a 502 page', async () => {
    const page = await post('html');
    expect(page.status).toBe(502);
    expect(page.headers.get('content-type')).toContain('text/html');
  });

  it('the model empty answers with an empty body', async () => {
    const empty = await post('empty');
    expect(empty.status).toBe(200);
    expect(await empty.text()).toBe('');
  });

  it('the model error-event answers with an error and status 200', async () => {
    const answer = await post('error-event');
    expect(answer.status).toBe(200);
    const text = await answer.text();
    const data = stream ? /^data: (.*)\n\n$/.exec(text)?.[1] : text;
    expect(JSON.parse(data ?? '')).toMatchObject({ error: { type: 'server_error' } });
  });

  it('the model stall sends nothing after the headers', async () => {
    const controller = new AbortController();
    const answer = await post('stall', controller.signal);
    expect(answer.status).toBe(200);
    const body = answer.text();
    controller.abort();
    await expect(body).rejects.toThrow('aborted');
  });

  it('the model cut closes the connection halfway', async () => {
    const answer = await post('cut');
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  it('the model stall-midway sends nothing after half of its answer', async () => {
    const controller = new AbortController();
    const answer = await post('stall-midway', controller.signal);
    const reader = answer.body!.getReader();
    expect((await reader.read()).value?.length).toBeGreaterThan(10);
    controller.abort();
    await expect(drain(reader)).rejects.toThrow('aborted');
  });

  it('the model error-midway sends an error after half of its answer', async () => {
    const events = (await (await post('error-midway')).text()).trim().split('\n\n');
    if (stream) expect(events.length).toBeGreaterThan(2);
    expect(JSON.parse(events.at(-1)!.replace(/^data: /, ''))).toMatchObject({ error: { type: 'server_error' } });
  });
});

describe('faults', () => {
  it('the model slow delays the first byte', async () => {
    await using slow = await startDemoUpstream({ delayFactor: hours });
    const request = { method: 'POST', body: JSON.stringify({ ...hello, model: 'slow' }) };
    const never = fetch(`${slow.url}/v1/chat/completions`, { ...request, signal: AbortSignal.timeout(200) });
    await expect(never).rejects.toThrow('timeout');
    expect((await demo.post({ ...hello, model: 'slow' })).status).toBe(200);
  });

  it.each([
    ['[[status 503]]', 503],
    ['please [[ Status 404 ]] now', 404],
    ['[[fail-500]]', 500],
    ['[[words 3]] and [[html]]', 502],
    ['[[status 200]]', 200],
    ['[[unknown]]', 200],
    ['status 503', 200],
  ])('the prompt “%s” makes the demo answer with %i', async (content, status) => {
    const answer = await demo.post({ ...hello, messages: [{ role: 'user', content }] });
    expect(answer.status).toBe(status);
    await answer.body?.cancel();
  });

  it('only the last message of the user can request a fault', async () => {
    const messages = [
      { role: 'user', content: '[[status 500]]' },
      { role: 'assistant', content: 'sorry' },
      { role: 'user', content: 'again, please' },
    ];
    expect((await demo.post({ ...hello, messages })).status).toBe(200);
  });

  it('a model with any other name answers without a fault', async () => {
    const answer = await demo.openai.chat.completions.create({
      model: 'gpt-6-sol',
      messages: [{ role: 'user', content: 'x' }],
    });
    expect(answer.model).toBe('gpt-6-sol');
  });
});

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

/** Delivers a stream of so many words to a client that does not read yet. */
async function deliver(words: number, delayFactor: number) {
  const begun = Promise.withResolvers<{ response: ServerResponse; over: Promise<void> }>();
  const server = createServer((_, response) => {
    const body: JsonObject = { model: 'chatty', messages: [{ role: 'user', content: `[[words ${words}]]` }] };
    const answer = createChatAnswer(parseChatRequest(body));
    begun.resolve({ response, over: new DemoDelivery(response, delayFactor).send(answer, true, undefined) });
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
