import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import OpenAI from 'openai';
import { ResponsesWebSocketSession } from 'openai/lib/responses/responses-websocket-session';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { answerInAnyFormat, beginAnswer, endAnswer } from '../support/five-formats.ts';
import { upstreamTextFormats } from '../support/formats.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { SocketClient, textOf } from '../support/socket-client.ts';

let upstream: FaultyUpstream;
let gateway: TestGateway;
/** What the upstream does with the next requests; replaced by tests. */
let answer: Handler = answerInAnyFormat;

beforeAll(async () => {
  upstream = await createUpstream((request, response) => answer(request, response));
  const names = upstreamTextFormats.map(
    (format) => `  ${format}: { format: ${format}, base_url: "${upstream.url}${format === 'ollama' ? '/api' : ''}" }`,
  );
  const models = upstreamTextFormats.map((format) => `  on-${format}: { routes: [${format}/m] }`);
  gateway = await startGateway({
    yaml: `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 100000, period: 1, burst: 100000, concurrent: 3 }
  - format
  - upstream: { first_byte_timeout: 5, idle_timeout: 5, connect_timeout: 1 }
  - log
upstreams:
  throttled: { format: responses, base_url: "${upstream.url}" }
${names.join('\n')}
models:
${models.join('\n')}
  throttled: { routes: [throttled/m] }
  two-routes: { routes: [chat/first, messages/second] }
websocket: { max_sockets: 12, queue_wait: 5 }
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  answer = answerInAnyFormat;
});

function open(headers: Record<string, string> = {}, protocols: string[] = []) {
  return SocketClient.open(gateway.url, { authorization: `Bearer ${gateway.key}`, ...headers }, protocols);
}

/** A socket of OpenAI's SDK. */
async function connectSdk() {
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const socket = new ResponsesWS(client);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.socket.once('open', resolve));
  const limits = { maxLanes: 40, maxBufferedEvents: 10_000, maxBufferedBytes: 64_000_000 };
  const session = new ResponsesWebSocketSession(socket, limits);
  return { socket, session, [Symbol.dispose]: () => socket.close() };
}

/** The items of the last request to the upstream of the format Responses. */
function lastInput(): object[] {
  return upstream.requests.at(-1)?.json<{ input: object[] }>().input ?? [];
}

/** The messages of the last request to the upstream of the format Chat. */
function lastMessages(): object[] {
  return upstream.requests.at(-1)?.json<{ messages: object[] }>().messages ?? [];
}

describe('OpenAI’s SDK over a WebSocket', () => {
  it.each(upstreamTextFormats)('continues a conversation on an upstream of the format %s', async (format) => {
    using connected = await connectSdk();
    const lane = connected.session.lane('main');
    lane.create({ model: `on-${format}`, input: 'hello', store: false });
    const first = await lane.finalResponse();
    expect(first).toMatchObject({ status: 'completed', output_text: 'one two', previous_response_id: null });
    lane.create({ model: `on-${format}`, input: 'more', store: false, previous_response_id: first.id });
    const second = await lane.finalResponse();
    expect(second).toMatchObject({ output_text: 'one two', previous_response_id: first.id });
    const sent = upstream.requests.at(-1)?.body.toString() ?? '';
    for (const text of ['hello', 'one two', 'more']) expect(sent).toContain(text);
    for (const member of ['stream_id', 'response.create', 'previous_response_id']) expect(sent).not.toContain(member);
  });

  it('has sixteen lanes at once, of which those beyond the account’s limit wait', async () => {
    using connected = await connectSdk();
    const lanes = Array.from({ length: 16 }, (_, index) => connected.session.lane(`lane-${index}`));
    for (const lane of lanes) lane.create({ model: 'on-chat', input: 'hello', store: false });
    const responses = await Promise.all(lanes.map((lane) => lane.finalResponse()));
    expect(responses.map(({ output_text }) => output_text)).toEqual(lanes.map(() => 'one two'));
  });
});

describe('a conversation on a WebSocket', () => {
  it('goes on where another route, of another format, takes over within a turn', async () => {
    using client = await open();
    const first = await client.ask({ model: 'two-routes', input: 'hello', store: false });
    answer = async (request, response) => {
      if (request.path.includes('/chat/completions')) response.reset();
      else await answerInAnyFormat(request, response);
    };
    const second = await client.ask({
      model: 'two-routes',
      input: 'more',
      store: false,
      previous_response_id: first.response?.id,
    });
    expect(second).toMatchObject({
      type: 'response.completed',
      response: { previous_response_id: first.response?.id },
    });
    const { path, body } = upstream.requests.at(-1) ?? {};
    expect(path).toContain('/messages');
    expect(String(body)).toMatch(/hello.*one two.*more/);
  });

  it('is kept for each lane, forks into another, and only its last response is kept', async () => {
    using client = await open();
    const first = await client.ask({ stream_id: 'a', input: 'one', store: false });
    const fork = { store: false, previous_response_id: first.response?.id };
    await client.ask({ ...fork, stream_id: 'b', input: 'two' });
    expect(String(upstream.requests.at(-1)?.body)).toMatch(/one.*one two.*two/);
    const next = await client.ask({ ...fork, stream_id: 'a', input: 'three' });
    expect(next.stream_id).toBe('a');
    expect(await client.ask({ ...fork, stream_id: 'a', input: 'four' })).toEqual({
      type: 'error',
      status: 400,
      request_id: expect.stringMatching(/^req_/) as string,
      stream_id: 'a',
      headers: {},
      error: {
        type: 'invalid_request_error',
        code: 'previous_response_not_found',
        message: `Previous response with id '${first.response?.id}' not found.`,
        param: 'previous_response_id',
        headers: {},
      },
    });
  });

  it('is forgotten when a request that continues it in its lane fails, and stays when a fork fails', async () => {
    using client = await open();
    const first = await client.ask({ stream_id: 'a', input: 'one', store: false });
    const next = { input: 'two', store: false, previous_response_id: first.response?.id };
    expect(await client.ask({ ...next, stream_id: 'b', model: 'nowhere' })).toMatchObject({ type: 'error' });
    expect(await client.ask({ ...next, stream_id: 'a', model: 'nowhere' })).toMatchObject({
      error: { code: 'model_not_found' },
    });
    expect(await client.ask({ ...next, stream_id: 'a' })).toMatchObject({
      error: { code: 'previous_response_not_found' },
    });
  });

  it('continues an older response that was stored, and that conversation is kept then', async () => {
    using client = await open();
    const first = await client.ask({ model: 'on-responses', input: 'one' });
    await client.ask({ model: 'on-responses', input: 'elsewhere', store: false });
    const again = await client.ask({
      model: 'on-responses',
      input: 'two',
      store: false,
      previous_response_id: first.response?.id,
    });
    expect(lastInput().length).toBe(3);
    await client.ask({
      model: 'on-responses',
      input: 'three',
      store: false,
      previous_response_id: again.response?.id,
    });
    expect(lastInput().length).toBe(5);
  });

  it('has each item once where a request refers to one of them by its id', async () => {
    using client = await open();
    const first = await client.ask({ model: 'on-responses', input: 'one' });
    const reference = [{ type: 'item_reference', id: 'msg_1' }];
    const next = { model: 'on-responses', store: false };
    const second = await client.ask({ ...next, input: reference, previous_response_id: first.response?.id });
    expect(lastInput().length).toBe(3);
    await client.ask({ ...next, input: 'two', previous_response_id: second.response?.id });
    expect(lastInput().length).toBe(5);
  });

  it('replaces a reference by its item if only the socket keeps that', async () => {
    using client = await open();
    const next = { model: 'on-chat', store: false };
    const first = await client.ask({ ...next, input: 'one' });
    const [{ id } = { id: '' }] = (first.response?.output ?? []) as unknown as { id: string }[];
    const input = [
      { type: 'item_reference', id },
      { role: 'user', content: 'two' },
    ];
    const second = await client.ask({ ...next, input, previous_response_id: first.response?.id });
    // One message of the assistant after another is one for Chat.
    const twice = { role: 'assistant', content: expect.stringMatching(/^one two\s+one two$/) as string };
    expect(lastMessages()).toMatchObject([{ content: 'one' }, twice, { content: 'two' }]);
    await client.ask({ ...next, input: 'three', previous_response_id: second.response?.id });
    expect(lastMessages()).toMatchObject([{ content: 'one' }, twice, { content: 'two' }, {}, { content: 'three' }]);
  });

  it('has each call once where a request repeats the calls of the response that it continues', async () => {
    using client = await open();
    const call = { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'look', arguments: '{"day":1}' };
    const result = { type: 'function_call_output', call_id: 'a', output: 'rain' };
    answer = (_request, response) => {
      const body = { id: 'resp_1', object: 'response', model: 'm', created_at: 1 };
      response.sse(
        { type: 'response.created', sequence_number: 0, response: { ...body, status: 'in_progress', output: [] } },
        { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { ...call, arguments: '' } },
        { type: 'response.output_item.done', sequence_number: 2, output_index: 0, item: call },
        { type: 'response.completed', sequence_number: 3, response: { ...body, status: 'completed', output: [call] } },
      );
      response.end();
    };
    const next = { model: 'on-responses', store: false };
    const first = await client.ask({ ...next, input: 'one' });
    const input = [{ ...call, id: undefined, arguments: '{"day": 1}' }, result];
    const second = await client.ask({ ...next, input, previous_response_id: first.response?.id });
    expect(lastInput()).toMatchObject([{ content: 'one' }, call, result]);
    await client.ask({ ...next, input: 'two', previous_response_id: second.response?.id });
    expect(lastInput()).toMatchObject([{ content: 'one' }, call, result, call, { content: 'two' }]);
  });

  it('begins with what `generate: false` has prepared, of which no upstream hears', async () => {
    using client = await open();
    const before = upstream.requests.length;
    const prepared = await client.ask({
      model: 'on-responses',
      generate: false,
      store: false,
      stream: true,
      input: [{ type: 'message', role: 'developer', content: 'Be brief.' }],
      tools: [{ type: 'function', name: 'f', parameters: {}, strict: null }],
    });
    expect(client.events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.metadata',
      'response.completed',
    ]);
    expect(prepared.response).toMatchObject({ status: 'completed', output: [], model: 'dp/on-responses' });
    expect(upstream.requests.length).toBe(before);
    const said = await client.ask({
      model: 'on-responses',
      store: false,
      input: 'hello',
      previous_response_id: prepared.response?.id,
    });
    expect(said.response?.previous_response_id).toBe(prepared.response?.id);
    expect(lastInput()).toMatchObject([{ content: 'Be brief.' }, { role: 'user', content: 'hello' }]);
    await vi.waitFor(async () => {
      const rows = await gateway.database.query<{ endpoint: string }>(
        'SELECT endpoint FROM request_log ORDER BY started_at DESC LIMIT 2',
      );
      expect(rows.map(({ endpoint }) => endpoint)).toEqual(['responses', 'responses_warm_up']);
    }, 10_000);
  });
});

describe('a request on a WebSocket', () => {
  it.each(upstreamTextFormats)('has the digests of its answer on record, from a %s route', async (format) => {
    using client = await open();
    const said = textOf(await client.ask({ model: `on-${format}`, store: false, input: 'digest' }));
    const digest = createHash('sha256').update(said).digest('hex');
    await vi.waitFor(async () => {
      const rows = await gateway.database.query<object>(
        'SELECT digest_received, digest_sent FROM request_log WHERE model = ? ORDER BY started_at DESC LIMIT 1',
        [`dp/on-${format}`],
      );
      expect(rows).toEqual([{ digest_received: digest, digest_sent: digest }]);
    }, 10_000);
  });

  it('waits for the one before it in its lane, and for no other', async () => {
    const gate = Promise.withResolvers<void>();
    answer = async (request, response) => {
      if (request.body.includes('slow')) await gate.promise;
      await answerInAnyFormat(request, response);
    };
    using client = await open();
    client.create({ stream_id: 'a', input: 'slow', store: false });
    client.create({ stream_id: 'a', input: 'behind', store: false });
    client.create({ stream_id: 'b', input: 'beside', store: false });
    expect(textOf(await client.ending('b'))).toBe('one two');
    gate.resolve();
    await client.ending('a');
    await client.ending('a');
    const order = client.events.filter(({ type, stream_id }) => type === 'response.created' && stream_id === 'a');
    expect(order.length).toBe(2);
  });

  it('that cannot be served gets an event with its status, its request id and what a POST says', async () => {
    using client = await open();
    const refused = await client.ask({ model: 'nowhere', input: 'hello' });
    const post = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'nowhere', input: 'hello' }),
    });
    const { error } = (await post.json()) as { error: object };
    expect(refused).toMatchObject({ type: 'error', status: post.status, error });
    expect(refused.request_id).toMatch(/^req_/);
  });

  it('of Codex gets 404 for an unknown model, and 400 for a plan that has ended', async () => {
    const { key } = await createAccount(gateway.database, 'dp', { name: 'Without a plan' });
    using client = await open({ authorization: `Bearer ${key}`, originator: 'codex_exec' });
    expect(await client.ask({ input: 'hello' })).toMatchObject({ status: 400, error: { code: 'insufficient_quota' } });
    using other = await open({ originator: 'codex_exec' });
    expect(await other.ask({ model: 'nowhere', input: 'x' })).toMatchObject({ status: 404 });
  });

  it('that fails once it has begun ends with one failed response', async () => {
    answer = async (request, response) => {
      await beginAnswer(request, response);
      await response.passedOn();
      response.reset();
    };
    using client = await open();
    const ending = await client.ask({ input: 'hello', store: false });
    expect(ending).toMatchObject({ type: 'response.failed', response: { status: 'failed' } });
    expect(client.events.filter(({ type }) => type === 'error' || type === 'response.failed').length).toBe(1);
  });

  it('that no route serves gets an error with what to wait for', async () => {
    answer = (_request, response) => response.json(429, { error: { message: 'slow down' } }, { 'retry-after': '7' });
    using client = await open();
    const refused = await client.ask({ model: 'throttled', input: 'hello' });
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '7' },
      error: { headers: { 'retry-after': '7' } },
    });
  });

  it.each([
    [{ stream_id: '' }, 'invalid_stream_id'],
    [{ stream_id: 'a b' }, 'invalid_stream_id'],
    [{ background: true }, null],
  ])('is refused with %o', async (members, code) => {
    using client = await open();
    const refused = await client.ask({ input: 'hello', ...members });
    expect(refused).toMatchObject({ type: 'error', status: 400, error: { code } });
    expect(refused).not.toHaveProperty('stream_id');
    expect(await client.ask({ input: 'hello', store: false })).toMatchObject({ type: 'response.completed' });
  });

  it.each([
    { type: 'response.create', input: 'hello', background: true },
    { type: 'response.create', input: 'hello', previous_response_id: 1 },
    { type: 'response.inject', response_id: 'resp_1', input: [] },
    { type: 'response.unknown' },
  ])('of a named lane is refused in that lane: %o', async (event) => {
    using client = await open();
    client.send({ ...event, stream_id: 'main' });
    expect(await client.ending()).toMatchObject({ type: 'error', status: 400, stream_id: 'main' });
  });

  it('is refused in a 33rd lane', async () => {
    using client = await open();
    for (let index = 0; index < 32; index++)
      client.create({ stream_id: `l${index}`, generate: false, input: [], store: false });
    for (let index = 0; index < 32; index++) await client.ending();
    expect(await client.ask({ stream_id: 'one-more', input: 'hello' })).toMatchObject({
      stream_id: 'one-more',
      error: { code: 'websocket_stream_limit_reached', param: 'stream_id' },
    });
  });

  it.each(['response.interrupt', 'response.cancel'])(
    'is ended by %s with what is finished, and continues',
    async (type) => {
      const gate = Promise.withResolvers<void>();
      answer = async (request, response) => {
        await beginAnswer(request, response);
        await gate.promise;
        await endAnswer(request, response);
      };
      using client = await open();
      client.create({ model: 'on-responses', input: 'hello', store: false });
      const created = await client.next((event) => event.type === 'response.created');
      client.send({ type, response_id: created.response?.id, mode: 'discard_partial_items' });
      const ending = await client.ending();
      expect(ending).toMatchObject({
        type: 'response.incomplete',
        response: {
          id: created.response?.id,
          incomplete_details: { reason: 'interrupted' },
          end_turn: false,
          output: [],
        },
      });
      expect(await upstream.waitForClose(upstream.requests.length)).toBe('client left');
      gate.resolve();
      answer = answerInAnyFormat;
      await client.ask({
        model: 'on-responses',
        input: 'again',
        store: false,
        previous_response_id: created.response?.id,
      });
      expect(lastInput()).toMatchObject([{ content: 'hello' }, { content: 'again' }]);
    },
  );

  it('ends its upstream call when its client leaves', async () => {
    answer = async (request, response) => {
      await beginAnswer(request, response);
      await response.closed;
    };
    using client = await open();
    client.create({ input: 'hello' });
    await client.next(({ type }) => type === 'response.output_text.delta');
    const began = performance.now();
    client.ws.terminate();
    expect(await upstream.waitForClose(upstream.requests.length)).toBe('client left');
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe('an event', () => {
  it.each([
    ['response.inject', { response_id: 'resp_x', input: [] }],
    ['response.processed', { response_id: 'resp_x' }],
  ])('%s is refused, and the connection stays', async (type, members) => {
    using client = await open();
    client.send({ type, ...members });
    expect(await client.next()).toMatchObject({ type: 'error', status: 400, error: { param: 'type' } });
    expect(await client.ask({ input: 'hello', store: false })).toMatchObject({ type: 'response.completed' });
  });

  it.each(['{', '[]', 'null', '{"type":1}', '{"type":"response.create"} {}', '{"a":]}'])(
    'that is %s is refused, and the connection stays',
    async (text) => {
      using client = await open();
      client.ws.send(text);
      expect(await client.next()).toMatchObject({ type: 'error', status: 400 });
      expect(await client.ask({ input: 'hello', store: false })).toMatchObject({ type: 'response.completed' });
    },
  );

  it('to steer is answered with what it said', async () => {
    using client = await open();
    client.send({ type: 'response.steer', previous_response_id: 'resp_x', input: 'faster' });
    expect(await client.next()).toMatchObject({
      type: 'response.steer.failed',
      error: { code: 'steering_not_supported' },
      steer: { input: 'faster', previous_response_id: 'resp_x' },
    });
  });

  it('in binary ends the connection with 1003', async () => {
    using client = await open();
    client.ws.send(Buffer.from('{}'));
    expect(await client.closed).toBe(1003);
  });
});

describe('an upgrade', () => {
  it('without a key is refused with 401', async () => {
    await expect(SocketClient.open(gateway.url)).rejects.toThrow('status 401');
  });

  it('with an unknown key gets one error, and the connection ends with 1008', async () => {
    using client = await open({ authorization: `Bearer dp-${'0'.repeat(49)}` });
    expect(await client.ask({ input: 'hello' })).toMatchObject({ status: 401, error: { code: 'invalid_api_key' } });
    expect(await client.closed).toBe(1008);
    expect(client.events.length).toBe(1);
  });

  it('takes the key of a browser, and answers with another protocol', async () => {
    using client = await SocketClient.open(gateway.url, {}, [
      `openai-insecure-api-key.${gateway.key}`,
      'openai-beta.responses-v1',
    ]);
    expect(client.ws.protocol).toBe('openai-beta.responses-v1');
    expect(await client.ask({ input: 'hello', store: false })).toMatchObject({ type: 'response.completed' });
  });

  it('negotiates no extensions', async () => {
    using client = await open();
    expect(client.ws.extensions).toBe('');
  });

  it('on another path keeps 426', async () => {
    const opening = SocketClient.open(
      gateway.url,
      { authorization: `Bearer ${gateway.key}` },
      [],
      '/v1/chat/completions',
    );
    await expect(opening).rejects.toThrow('status 426');
  });

  it.each(['/responses', '/openai/v1/responses', '/v1/v1/responses'])('is served at %s, as a POST is', async (path) => {
    using client = await SocketClient.open(gateway.url, { authorization: `Bearer ${gateway.key}` }, [], path);
    expect(await client.ask({ input: 'hello', store: false })).toMatchObject({ type: 'response.completed' });
  });

  it('beyond the sockets of an account gets 429 with the time to wait', async () => {
    const { key } = await createAccount(gateway.database, 'dp', {
      name: 'Many',
      period: { days: 1, reason: 'grant', label: 'x' },
    });
    const clients = await Promise.all(Array.from({ length: 12 }, () => open({ authorization: `Bearer ${key}` })));
    try {
      const refused = await open({ authorization: `Bearer ${key}` }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ message: 'status 429', response: { headers: { 'retry-after': '5' } } });
    } finally {
      for (const client of clients) client[Symbol.dispose]();
    }
  });

  it('to h2c by POST is a POST', async () => {
    const body = JSON.stringify({ model: 'on-chat', input: 'hello' });
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    httpRequest(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
      },
    })
      .on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      })
      .end(body);
    expect(await promise).toBe(200);
  });
});

/** Opens a WebSocket by hand, and sends these bytes. */
async function sendRaw(bytes: Buffer): Promise<Buffer> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n` +
      `sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer ${gateway.key}\r\n\r\n`,
  );
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve) => {
    socket.once('data', (chunk) => {
      chunks.push(chunk as Buffer);
      socket.write(bytes);
      resolve();
    });
  });
  socket.on('data', (chunk) => chunks.push(chunk as Buffer));
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('end', resolve));
  socket.destroy();
  return Buffer.concat(chunks);
}

/** The code of the close frame at the end. */
const codeIn = (bytes: Buffer) => bytes.readUInt16BE(bytes.lastIndexOf(0x88) + 2);

describe('a hostile client', () => {
  it.each([
    ['without a mask', Buffer.from([0x81, 0x02, 0x7b, 0x7d]), 1002],
    ['that announces 2^63 bytes', Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]), 1009],
    ['larger than a body may be', Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x10, 0, 0, 0, 1, 2, 3, 4]), 1009],
    ['with a reserved bit', Buffer.from([0xc1, 0x80, 1, 2, 3, 4]), 1002],
  ])('is turned away for a frame %s', async (_what, bytes, code) => {
    expect(codeIn(await sendRaw(bytes))).toBe(code);
  });

  it('that sends nothing but what is no event is turned away', async () => {
    using client = await open();
    for (let index = 0; index < 300; index++) client.ws.send('{}');
    expect(await client.closed).toBe(1008);
  });
});
