import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Gateway } from '../../core/app.ts';
import { silentLog } from '../support/database.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { createGatewayHome, type GatewayHome, yamlFor } from '../support/gateway.ts';

const maxBodyBytes = 100_000;
const listen = `listen: { port: 0, header_timeout: 1, drain_timeout: 1, max_body_bytes: ${maxBodyBytes} }\n`;

let upstream: FaultyUpstream;
let home: GatewayHome;
let gateway: Gateway;
let answer: Handler;
let agents = 0;
let agent = '';
beforeAll(async () => {
  upstream = await createUpstream((request, response) => answer(request, response));
  home = await createGatewayHome('');
  const yaml = yamlFor(`${upstream.url}/v1`).replace(
    'routes: [one/model-there]',
    'routes: [one/model-there, one/model-elsewhere]',
  );
  await writeFile(home.file, listen + yaml);
  gateway = await Gateway.start({ file: home.file, environment: { DATABASE_URL: home.databaseUrl }, log: silentLog });
});
afterAll(async () => {
  await gateway.stop();
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});
beforeEach(() => {
  answer = (_request, response) => response.json(200, completion);
  agent = `client-faults/${++agents}`;
});

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'model-there',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const chunk = (content: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'model-there',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});
const chatBody = { model: 'test', messages: [{ role: 'user', content: 'hi' }] };
const chat = JSON.stringify(chatBody);
const streamedChat = JSON.stringify({ ...chatBody, stream: true });

interface Row {
  readonly outcome: string;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly remote_address: string;
  readonly path: string;
  readonly bytes_out: string | null;
  readonly attempts: readonly { readonly route: string; readonly outcome: string }[] | null;
}

/** What request_log says of the requests with the user agent of this test, when there are as many. */
async function records(count = 1): Promise<Row[]> {
  return vi.waitFor(
    async () => {
      const rows = await home.database.query<Row>('SELECT * FROM request_log WHERE user_agent = ?', [agent]);
      expect(rows).toHaveLength(count);
      return rows;
    },
    { timeout: 5_000, interval: 50 },
  );
}

/** A client that writes bytes and reads bytes. */
class RawClient implements Disposable {
  readonly socket: Socket;
  received = '';
  readonly #closed: Promise<unknown>;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.#closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.toString('latin1');
    });
    socket.on('error', () => undefined);
  }

  static async open(): Promise<RawClient> {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  async waitFor(text: string): Promise<void> {
    while (!this.received.includes(text)) {
      if (this.socket.destroyed) throw new Error(`closed without ${text}: ${this.received}`);
      await Promise.race([once(this.socket, 'data'), this.#closed]);
    }
  }

  /** Everything that has come when the gateway has closed the connection. */
  async end(): Promise<string> {
    await this.#closed;
    return this.received;
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.received)?.[1]);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

/** Head of a POST with the key of this test's account. */
function post(headers: string, path = '/v1/chat/completions'): string {
  return `POST ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${home.key}\r\nUser-Agent: ${agent}\r\n${headers}\r\n`;
}

/** Sends bytes on a connection of their own and waits until the gateway closes it. */
async function exchangeRaw(bytes: string | Buffer): Promise<{ status: number; text: string }> {
  using client = await RawClient.open();
  client.send(bytes);
  const text = await client.end();
  return { status: client.status, text };
}

/** Headers of a client that waits for an invitation before it sends so many bytes. */
function expecting(length: number): string {
  return `Content-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n`;
}

async function ask(
  body: string | Buffer,
  { path = '/v1/chat/completions', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${home.key}`,
      'content-type': 'application/json',
      'user-agent': agent,
      ...headers,
    },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
}

/** Milliseconds until the promise is fulfilled. */
async function timed(promise: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await promise;
  return performance.now() - began;
}

describe('headers', () => {
  it('that drip end the connection at the header timeout, while others are served', async () => {
    using client = await RawClient.open();
    const drip = setInterval(() => client.send('a'), 100);
    try {
      client.send('POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nx-slow: ');
      const closed = timed(client.end());
      expect((await ask(chat)).status).toBe(200);
      // Node looks every two seconds.
      expect(await closed).toBeLessThan(4_000);
      expect(client.status).toBe(408);
    } finally {
      clearInterval(drip);
    }
  });

  it('of 20 KB are refused', async () => {
    const { status } = await exchangeRaw(post(`x-large: ${'a'.repeat(20_000)}\r\n`));
    expect(status).toBe(431);
  });

  it('in thousands are refused', async () => {
    const short = 'a:\r\n'.repeat(2_000);
    const { status } = await exchangeRaw(`${post(`Content-Length: 0\r\nConnection: close\r\n${short}`)}`);
    expect(status).toBe(431);
  });

  it.each([
    ['a length and chunks', 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 5\r\n', 'abcde'],
    ['a length that is none', 'Content-Length: 4x\r\n', 'abcd'],
    ['chunks that are not the last encoding', 'Transfer-Encoding: chunked, gzip\r\n', '0\r\n\r\n'],
    ['an unknown transfer encoding', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
    ['a space before the colon', 'Content-Length : 4\r\n', 'abcd'],
    ['a line feed alone', 'x-a: b\nContent-Length: 0\r\n', ''],
    ['a folded line', 'x-a: b\r\n\tContent-Length: 4\r\nContent-Length : 0\r\n', ''],
  ])('with %s are 400 and the connection closes', async (_name, headers, body) => {
    const before = upstream.requests.length;
    const { status } = await exchangeRaw(post(headers) + body);
    expect(status).toBe(400);
    expect(upstream.requests).toHaveLength(before);
  });

  it('with a malformed cookie do not matter', async () => {
    expect((await ask(chat, { headers: { cookie: '=;\u00e9=""; a b="' } })).status).toBe(200);
  });

  it('that forge an address are ignored', async () => {
    const forged = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' };
    expect((await ask(chat, { headers: forged })).status).toBe(200);
    const [row] = await records();
    expect(row?.remote_address).toBe('127.0.0.1');
  });
});

describe('methods, protocols and paths', () => {
  it.each(['TRACE', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'])('%s is 405', async (method) => {
    const head = `${method} /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n`;
    const { status } = await exchangeRaw(`${head}Authorization: Bearer ${home.key}\r\n\r\n`);
    expect(status).toBe(405);
  });

  it('an unknown method is 400', async () => {
    expect((await exchangeRaw('BREW /v1/models HTTP/1.1\r\nHost: gateway\r\n\r\n')).status).toBe(400);
  });

  it('CONNECT closes the connection', async () => {
    const { text } = await exchangeRaw('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    expect(text).not.toContain(' 200 ');
  });

  it('the first bytes of TLS close the connection', async () => {
    const hello = Buffer.from('16030100a5010000a10303', 'hex');
    expect((await exchangeRaw(Buffer.concat([hello, Buffer.alloc(160)]))).status).toBe(400);
  });

  it('an upgrade to a WebSocket is 426', async () => {
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==\r\n';
    using client = await RawClient.open();
    client.send(`GET /v1/responses HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${home.key}\r\n${upgrade}\r\n`);
    await client.waitFor('\r\n\r\n');
    expect(client.status).toBe(426);
  });

  it('HEAD has the headers of GET and no body', async () => {
    const { status, text } = await exchangeRaw(
      `HEAD /v1/models HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${home.key}\r\nConnection: close\r\n\r\n`,
    );
    expect(status).toBe(200);
    expect(text).toMatch(/content-length: [1-9]/i);
    expect(text.endsWith('\r\n\r\n')).toBe(true);
  });

  it('HEAD of a path that takes only POST is 405 without a body', async () => {
    const { status, text } = await exchangeRaw(
      `HEAD /v1/messages HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${home.key}\r\nConnection: close\r\n\r\n`,
    );
    expect(status).toBe(405);
    expect(text.endsWith('\r\n\r\n')).toBe(true);
  });

  it('a slash at the end does not matter', async () => {
    expect((await ask(chat, { path: '/v1/chat/completions/' })).status).toBe(200);
  });

  it.each([
    '//v1/chat/completions',
    '/v1//chat/completions',
    '/v1/chat/completions%00',
    '/v1/chat%2fcompletions',
    '/v1/models/%00',
    '/v1/models/%zz',
    '/v1/%E0%A4%A',
    '/v1/../v1/nothing',
    '/v1/chat/completions;a=b',
    '/%2e%2e/v1/nothing',
    'http://elsewhere/v1/nothing',
    '*',
  ])('the path %s is refused and reaches no other route', async (path) => {
    const before = upstream.requests.length;
    const head = `Host: gateway\r\nAuthorization: Bearer ${home.key}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
    const first = await exchangeRaw(`POST ${path} HTTP/1.1\r\n${head}`);
    expect([400, 404, 405]).toContain(first.status);
    const second = await exchangeRaw(`POST ${path} HTTP/1.1\r\n${head}`);
    expect(second.status).toBe(first.status);
    expect(upstream.requests).toHaveLength(before);
  });

  it('a key in the query string is refused and not recorded', async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions?key=${home.key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': agent },
      body: chat,
    });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain(home.key);
    expect(JSON.stringify(await records())).not.toContain(home.key);
  });
});

describe('a body', () => {
  it('that is declared too large is 413 before any of it came', async () => {
    using client = await RawClient.open();
    client.send(post(`Content-Type: application/json\r\nContent-Length: ${maxBodyBytes + 1}\r\n`));
    await client.waitFor('request_too_large');
    expect(client.status).toBe(413);
  });

  it('in chunks is 413 as soon as it is too large', async () => {
    const before = upstream.requests.length;
    using client = await RawClient.open();
    client.send(post('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'));
    const part = `2710\r\n${' '.repeat(10_000)}\r\n`;
    for (let sent = 0; sent <= maxBodyBytes; sent += 10_000) client.send(part);
    await client.waitFor('request_too_large');
    expect(client.status).toBe(413);
    expect(upstream.requests).toHaveLength(before);
    const [row] = await records();
    expect(row).toMatchObject({ outcome: 'refused', status: 413 });
  });

  it('that is too large is 413 in the shape of messages', async () => {
    const response = await ask(' '.repeat(maxBodyBytes + 1), { path: '/v1/messages' });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'request_too_large' } });
  });

  it('in gzip works', async () => {
    expect((await ask(gzipSync(chat), { headers: { 'content-encoding': 'gzip' } })).status).toBe(200);
    expect(upstream.requests.at(-1)?.json()).toMatchObject({ messages: chatBody.messages });
    expect(upstream.requests.at(-1)?.headers['content-encoding']).toBeUndefined();
  });

  it('in gzip that unpacks to too much is 413', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    expect(bomb.length).toBeLessThan(maxBodyBytes);
    expect((await ask(bomb, { headers: { 'content-encoding': 'gzip' } })).status).toBe(413);
  });

  it('that is not the gzip it says is 400', async () => {
    expect((await ask(chat, { headers: { 'content-encoding': 'gzip' } })).status).toBe(400);
    expect((await ask(gzipSync(chat).subarray(0, 30), { headers: { 'content-encoding': 'gzip' } })).status).toBe(400);
  });

  it('in chunks of one byte works', async () => {
    using client = await RawClient.open();
    client.send(post('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n'));
    for (const char of chat) client.send(`1\r\n${char}\r\n`);
    client.send('0\r\n\r\n');
    await client.end();
    expect(client.status).toBe(200);
    expect(upstream.requests.at(-1)?.json()).toMatchObject({ messages: chatBody.messages });
  });

  it('whose connection is reset half-way calls no upstream', async () => {
    const before = upstream.requests.length;
    using client = await RawClient.open();
    client.send(`${post(`Content-Type: application/json\r\nContent-Length: ${chat.length}\r\n`)}${chat.slice(0, 20)}`);
    client.socket.resetAndDestroy();
    const [row] = await records();
    expect(row).toMatchObject({ outcome: 'aborted', status: null, error_code: null });
    expect(upstream.requests).toHaveLength(before);
  });

  it('whose chunks break half-way calls no upstream', async () => {
    const before = upstream.requests.length;
    const { status } = await exchangeRaw(
      `${post('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n')}5\r\n{"mod\r\nno length\r\n`,
    );
    expect(status).toBe(400);
    const [row] = await records();
    expect(row).toMatchObject({ outcome: 'aborted' });
    expect(upstream.requests).toHaveLength(before);
  });

  const shapes = [
    { path: '/v1/chat/completions', shape: { error: { type: 'invalid_request_error' } } },
    { path: '/v1/messages', shape: { type: 'error', error: { type: 'invalid_request_error' } } },
  ];
  const wrongBodies: [string, string | Buffer, Record<string, string>, number][] = [
    ['that is not JSON', '{"model":', {}, 400],
    ['that is empty', '', {}, 400],
    ['with a byte order mark', `\ufeff${chat}`, {}, 400],
    ['that is an array', '[]', {}, 400],
    ['that is null', 'null', {}, 400],
    ['that is a number', '12', {}, 400],
    ['of a form', 'model=test', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['of several parts', '--a--', { 'content-type': 'multipart/form-data; boundary=a' }, 415],
    ['in an unknown encoding', chat, { 'content-encoding': 'compress' }, 415],
    ['that nests 5,000 levels', `{"model":"test","messages":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, {}, 400],
  ];
  describe.each(shapes)('for $path', ({ path, shape }) => {
    it.each(wrongBodies)('%s is refused', async (_name, body, headers, status) => {
      const before = upstream.requests.length;
      const response = await ask(body, { path, headers });
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject(shape);
      expect(upstream.requests).toHaveLength(before);
    });
  });

  it.each([
    [{ stream: 'true' }, 'stream'],
    [{ n: 1e9 }, 'n'],
    [{ max_tokens: -5 }, 'max_tokens'],
    [{ messages: 'hi' }, 'messages'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ model: 5 }, 'model'],
    [{ messages: null }, 'messages'],
  ])('with %j is 400 and names the parameter', async (wrong, param) => {
    const response = await ask(JSON.stringify({ ...chatBody, ...wrong }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });

  it('with names of prototypes does no harm and passes through', async () => {
    const odd = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"hasOwnProperty":2';
    const text = `{"model":"test",${odd},"messages":[{"role":"user","content":"hi",${odd}}]}`;
    expect((await ask(text)).status).toBe(200);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(upstream.requests.at(-1)?.body.toString()).toBe(text.replace('"test"', '"model-there"'));
  });

  it('with a name twice counts the last, here and upstream', async () => {
    answer = (_request, response) => {
      response.sse(chunk('hello'), '[DONE]');
      response.end();
    };
    const text = `{"model":"unknown","stream":false,"messages":[{"role":"user","content":"hi"}],"model":"test","stream":true}`;
    const response = await ask(text);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    await response.text();
    const sent = upstream.requests.at(-1);
    expect(sent?.json()).toMatchObject({ model: 'model-there', stream: true });
    expect(sent?.body.toString()).not.toContain('unknown');
  });
});

describe('Expect: 100-continue', () => {
  it('with a bad key is 401, and the body is not invited', async () => {
    using client = await RawClient.open();
    client.send(post(expecting(chat.length)).replace(home.key, 'dp_wrong'));
    await client.waitFor('invalid_api_key');
    expect(client.status).toBe(401);
    expect(client.received).not.toContain('100 Continue');
  });

  it('with a body that is too large is 413, and the body is not invited', async () => {
    using client = await RawClient.open();
    client.send(post(expecting(maxBodyBytes + 1)));
    await client.waitFor('request_too_large');
    expect(client.status).toBe(413);
  });

  it('with a good key invites the body, once', async () => {
    const before = upstream.requests.length;
    using client = await RawClient.open();
    client.send(post(`${expecting(chat.length)}Connection: close\r\n`));
    await client.waitFor('HTTP/1.1 100 Continue');
    client.send(chat);
    expect(await client.end()).toContain('HTTP/1.1 200 OK');
    expect(client.received.match(/HTTP\/1\.1 /g)).toHaveLength(2);
    expect(upstream.requests).toHaveLength(before + 1);
    await records(1);
  });

  it('another expectation is refused', async () => {
    const { status } = await exchangeRaw(post('Content-Length: 0\r\nConnection: close\r\nExpect: a-miracle\r\n'));
    expect(status).toBe(417);
  });
});

describe('a client that leaves', () => {
  it.each([
    ['before the first byte of an answer', chat],
    ['before the first byte of a stream', streamedChat],
  ])('%s: its upstream is closed within a second, no other route is tried', async (_name, body) => {
    answer = () => undefined;
    const count = upstream.requests.length + 1;
    using client = await RawClient.open();
    client.send(post(`Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`) + body);
    await upstream.waitForRequest(count);
    client.socket.destroy();
    expect(await timed(upstream.waitForClose(count))).toBeLessThan(1_000);
    const [row] = await records();
    expect(row).toMatchObject({
      outcome: 'aborted',
      status: null,
      error_code: null,
      attempts: [{ route: 'one/model-there', outcome: 'aborted' }],
    });
    expect(upstream.requests).toHaveLength(count);
  });

  it('mid-stream: its upstream is closed within a second, and nothing is kept', async () => {
    answer = (_request, response) => response.sse(chunk('hello'));
    const count = upstream.requests.length + 1;
    const body = JSON.stringify({ ...chatBody, stream: true, user: agent });
    const head = post(`Content-Type: application/json\r\nContent-Length: ${body.length}\r\nX-Service-Cache: 60\r\n`);
    using client = await RawClient.open();
    client.send(head + body);
    await client.waitFor('hello');
    client.socket.destroy();
    expect(await timed(upstream.waitForClose(count))).toBeLessThan(1_000);
    const [row] = await records();
    expect(row).toMatchObject({
      outcome: 'aborted',
      status: 200,
      error_code: null,
      bytes_out: String(`data: ${JSON.stringify(chunk('hello'))}\n\n`.length),
      attempts: [{ route: 'one/model-there', outcome: 'aborted' }],
    });

    answer = (_request, response) => {
      response.sse(
        chunk('again'),
        { ...chunk(''), choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        '[DONE]',
      );
      response.end();
    };
    const again = await ask(body, { headers: { 'x-service-cache': '60' } });
    expect(await again.text()).toContain('again');
    expect(again.headers.get('x-service-cache')).toBe('miss');
  });
});

describe('a stream', () => {
  it('is not read from the upstream faster than the client reads', async () => {
    const content = 'x'.repeat(64 * 1024);
    const most = 200;
    let written = 0;
    answer = async (_request, response) => {
      response.sse();
      while (written < most * content.length) {
        let isOver = false;
        void response.closed.then(() => {
          isOver = true;
        });
        await response.event(chunk(content));
        if (isOver) return;
        written += content.length;
      }
    };
    const count = upstream.requests.length + 1;
    using client = await RawClient.open();
    client.socket.pause();
    const head = post(`Content-Type: application/json\r\nContent-Length: ${streamedChat.length}\r\n`);
    client.send(head + streamedChat);
    await upstream.waitForRequest(count);
    let before = -1;
    await vi.waitFor(
      () => {
        const isStalled = written > 0 && written === before;
        before = written;
        expect(isStalled).toBe(true);
      },
      { timeout: 10_000, interval: 500 },
    );
    // The buffers of two sockets in the kernel, and what the gateway holds.
    expect(written).toBeLessThan(most * content.length);
    client.socket.destroy();
    expect(await timed(upstream.waitForClose(count))).toBeLessThan(1_000);
  });

  it('comes event by event to a client that accepts gzip', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    answer = async (_request, response) => {
      response.sse();
      await response.event(chunk('first'));
      await gates[0]?.promise;
      await response.event(chunk('second'));
      await gates[1]?.promise;
      await response.event({ ...chunk(''), choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
      await response.event('[DONE]');
      response.end();
    };
    using client = await RawClient.open();
    const headers = `Content-Type: application/json\r\nAccept-Encoding: gzip, br\r\nConnection: close\r\nContent-Length: ${streamedChat.length}\r\n`;
    client.send(post(headers) + streamedChat);
    await client.waitFor('first');
    expect(client.received).not.toContain('second');
    gates[0]?.resolve();
    await client.waitFor('second');
    expect(client.received).not.toContain('[DONE]');
    gates[1]?.resolve();
    const text = await client.end();
    expect(text).toContain('[DONE]');
    expect(text.toLowerCase()).not.toContain('content-encoding');
  });
});

it('a thousand idle connections and two hundred streams leave the gateway answering', async () => {
  answer = (_request, response) => response.sse(chunk('hello'));
  const idle = await Promise.all(Array.from({ length: 1_000 }, () => RawClient.open()));
  const head = post(`Content-Type: application/json\r\nContent-Length: ${streamedChat.length}\r\n`);
  const streams = await Promise.all(Array.from({ length: 200 }, () => RawClient.open()));
  try {
    for (const client of streams) client.send(head + streamedChat);
    await Promise.all(streams.map((client) => client.waitFor('hello')));
    expect(await timed(fetch(`${gateway.url}/livez`))).toBeLessThan(1_000);
  } finally {
    for (const client of [...idle, ...streams]) client[Symbol.dispose]();
  }
  const rows = await records(200);
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['aborted']));
});
