import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BodyWriter } from '#core/gateway/http/body-writer.ts';
import { ParserRefusals } from '#core/gateway/http/parser-refusals.ts';
import { createLogger } from '#core/platform/logger.ts';
import { RawClient } from '../../../support/raw-client.ts';

const bounds = { waiting: 4, body: 16 * 1024 };
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const post = (path: string, length: number) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
const flood = get('/flood').repeat(20_000);

let lines: string[];
let server: Server;
let refusals: ParserRefusals;
let client: RawClient;
/** Requests that have started, and not yet been answered by the test. */
let started: { path: string; request: IncomingMessage; response: ServerResponse }[];
let parsed: number;
beforeEach(async () => {
  lines = [];
  // Those of a former test may start when its connection closes.
  const own: typeof started = [];
  started = own;
  parsed = 0;
  class CountedResponse extends ServerResponse {
    constructor(...values: ConstructorParameters<typeof ServerResponse>) {
      super(...values);
      parsed++;
    }
  }
  refusals = new ParserRefusals(createLogger((line) => void lines.push(line)));
  server = createServer({ requireHostHeader: false, ServerResponse: CountedResponse }, (request, response) => {
    own.push({ path: request.url ?? '', request, response });
    server.emit('started');
  });
  server.on('checkContinue', (request, response) => {
    response.writeContinue();
    server.emit('request', request, response);
  });
  refusals.attach(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = await RawClient.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterEach(async () => {
  client[Symbol.dispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Waits until so many requests have started. */
async function starts(count: number): Promise<void> {
  while (started.length < count) await once(server, 'started');
}

async function answer(index: number): Promise<void> {
  await starts(index + 1);
  const { path, response } = started[index] as (typeof started)[number];
  response.end(path);
}

/** Paths of the responses received, in their order. */
const answered = () => client.received.match(/\/[a-z]+\d*(?=HTTP|$|\r)/g) ?? [];

it('the requests of a connection run one after the other', async () => {
  client.send(get('/a') + get('/b') + get('/c'));
  await starts(1);
  expect(started.map(({ path }) => path)).toEqual(['/a']);
  for (const index of [0, 1, 2]) await answer(index);
  await client.waitFor('/c');
  expect(answered()).toEqual(['/a', '/b', '/c']);
});

it('a request that follows an answer starts at once, on the same connection', async () => {
  for (const [index, path] of ['/a', '/b', '/c'].entries()) {
    client.send(get(path));
    await answer(index);
    await client.waitFor(path);
  }
  expect(client.socket.destroyed).toBe(false);
});

it('of 20,000 requests five are answered, and then the connection closes', async () => {
  client.send(get('/a') + flood);
  for (let index = 0; index <= bounds.waiting; index++) await answer(index);
  await client.end();
  expect(answered()).toEqual(['/a', '/flood', '/flood', '/flood', '/flood']);
  expect(client.received.match(/connection: close/gi)).toHaveLength(1);
});

it('20,000 pipelined requests allocate few more than five responses', async () => {
  client.send(get('/a') + flood);
  await starts(1);
  await vi.waitFor(() => expect(client.socket.writableLength).toBe(0));
  expect(parsed).toBe(bounds.waiting + 2);
});

it('a connection with too many requests counts once, and makes one line in the log', async () => {
  client.send(get('/a') + flood);
  await answer(0);
  for (let index = 1; index <= bounds.waiting; index++) await answer(index);
  await client.end();
  expect([...(await refusals.gauge.read(undefined as never))]).toEqual([{ value: 1, labels: { reason: 'pipelined' } }]);
  expect(lines).toEqual([
    expect.stringMatching(/request from 127\.0\.0\.1 dropped: more than 4 requests waited on a connection/),
  ]);
});

it.each([
  ['with nothing behind', ''],
  ['with a request behind', get('/b')],
  ['with 20,000 requests behind', flood],
])('a client that leaves during a request %s is noticed at once', async (_what, behind) => {
  client.send(get('/a') + behind);
  await starts(1);
  await vi.waitFor(() => expect(client.socket.writableLength).toBe(0));
  client.socket.destroy();
  await once(started[0]?.response as ServerResponse, 'close');
});

it('the waiting requests of a client that has left start, so that they are recorded', async () => {
  client.send(get('/a') + get('/b') + get('/c'));
  await starts(1);
  client.socket.destroy();
  await starts(3);
  expect(started.map(({ path, request }) => [path, request.socket.destroyed])).toEqual([
    ['/a', true],
    ['/b', true],
    ['/c', true],
  ]);
});

it('a waiting request keeps its short body', async () => {
  client.send(get('/a') + post('/b', bounds.body) + 'x'.repeat(bounds.body) + get('/c'));
  await answer(0);
  await starts(2);
  const { request, response } = started[1] as (typeof started)[number];
  expect((await request.toArray()).join('')).toHaveLength(bounds.body);
  response.end('/b');
  await answer(2);
  await client.waitFor('/c');
});

it.each([
  ['a long body', post('/b', bounds.body + 1) + 'x'.repeat(bounds.body + 1)],
  ['a body of unknown length', 'POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n'],
])('a connection with %s behind the running request closes after the response', async (_what, second) => {
  client.send(get('/a') + second);
  await answer(0);
  expect(await client.end()).toMatch(/connection: close[^]*\r\n\r\n\/a$/i);
});

it('a response that had begun before is complete when its connection closes', async () => {
  client.send(get('/a'));
  await starts(1);
  started[0]?.response.write('begun');
  await client.waitFor('begun');
  client.send(post('/b', bounds.body + 1) + 'x'.repeat(1_000_000));
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  started[0]?.response.end(', ended');
  expect(await client.end()).toMatch(/begun\r\n[^]*, ended\r\n0\r\n\r\n$/);
});

it('a malformed request behind a running one spoils neither the response of that one nor of a waiting one', async () => {
  client.send(`${get('/a')}${get('/b')}not HTTP\r\n\r\n`);
  await answer(0);
  await answer(1);
  await client.end();
  expect(answered()).toEqual(['/a', '/b']);
});

it('a client that sends without end behind a running request is disconnected', async () => {
  client.send(get('/a') + post('/b', 1e9));
  await starts(1);
  client.send(Buffer.alloc(8 * 1024 * 1024));
  await once(started[0]?.response as ServerResponse, 'close');
});

it('`100 Continue` is sent to a waiting request when it runs', async () => {
  client.send(get('/a') + post('/b', 2).replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'));
  await starts(1);
  expect(client.received).toBe('');
  await answer(0);
  await client.waitFor('100 Continue');
  client.send('{}');
  await answer(1);
  await client.waitFor('/b');
});

it.each([
  ['HTTP/1.0', 'GET /a HTTP/1.0\r\n\r\n'],
  ['`Connection: close`', 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
])('a request of %s ends its connection', async (_what, request) => {
  client.send(request);
  await answer(0);
  expect(await client.end()).toMatch(/\/a$/);
});

async function breakOff(index: number): Promise<void> {
  await starts(index + 1);
  const { response } = started[index] as (typeof started)[number];
  response.writeHead(200);
  new BodyWriter(response).endTruncated('failed');
}

it('the requests behind a response that breaks off start without a connection, so that they are recorded', async () => {
  client.send(get('/a') + get('/b') + get('/c'));
  await breakOff(0);
  expect(await client.end()).toMatch(/\r\n\r\n6\r\nfailed\r\n$/);
  await starts(3);
  expect(started.slice(1).map(({ request }) => request.socket.writableEnded)).toEqual([true, true]);
});

it('a request that follows a response that broke off is not read', async () => {
  client.send(get('/a'));
  await breakOff(0);
  await client.waitFor('failed');
  client.send(get('/b'));
  expect(await client.end()).toMatch(/\r\n\r\n6\r\nfailed\r\n$/);
  expect(started).toHaveLength(1);
});
