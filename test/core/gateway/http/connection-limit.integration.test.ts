import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { maxConnectionsFor, ConnectionLimit } from '#core/gateway/http/connection-limit.ts';
import { ParserRefusals } from '#core/gateway/http/parser-refusals.ts';
import { bounds } from '#core/platform/bounds.ts';
import { createLogger } from '#core/platform/logger.ts';
import { RawClient } from '../../../support/raw-client.ts';

const limit = 2;
/** So few that two connections over the limit are still read. */
const openFiles = 16;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

let lines: string[];
let server: Server;
let connections: ConnectionLimit;
let clients: RawClient[];
let held: ServerResponse[];
beforeEach(async () => {
  lines = [];
  clients = [];
  held = [];
  const refusals = new ParserRefusals(createLogger((line) => void lines.push(line)));
  connections = new ConnectionLimit(refusals, openFiles);
  connections.apply(limit);
  server = createServer((request, response) => {
    if (request.url === '/hold') held.push(response);
    else response.end(request.url);
  });
  connections.attach(server);
  refusals.attach(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  for (const client of clients) client[Symbol.dispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function connect(): Promise<RawClient> {
  const client = await RawClient.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  clients.push(client);
  return client;
}

/** As many clients as are served, in the middle of a request each. */
async function fill(): Promise<void> {
  for (let open = 0; open < limit; open++) (await connect()).send(get('/hold'));
  await vi.waitFor(() => expect(held).toHaveLength(limit));
}

const verdict = () => connections.healthCheck.check(undefined as never);
const readGauges = () =>
  Object.fromEntries(connections.gauges.map(({ name, read }) => [name, [...(read(undefined as never) as never)]]));

describe('a connection over the limit', () => {
  it('gets 503 as JSON with Retry-After, and closes', async () => {
    await fill();
    const client = await connect();
    client.send(get('/v1/models'));
    const answer = await client.end();
    expect(answer).toMatch(/^HTTP\/1.1 503 [^]*retry-after: 2\r\n[^]*connection: close/i);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ error: { code: 'server_is_overloaded' } });
  });

  it('gets 503 although its body is not read', async () => {
    await fill();
    const client = await connect();
    client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`);
    expect(await client.end()).toMatch(/^HTTP\/1.1 503 /);
  });

  it.each(['/livez', '/readyz'])('gets %s, and closes', async (path) => {
    await fill();
    const client = await connect();
    client.send(get(path));
    expect(await client.end()).toMatch(/^HTTP\/1.1 200 [^]*connection: close[^]*z$/i);
  });

  it('closes after a while when it sends nothing', async () => {
    await fill();
    await (await connect()).end();
  });

  it('gets 503 without being read when many others are over the limit', async () => {
    await fill();
    await connect();
    await connect();
    const client = await connect();
    expect(await client.end()).toMatch(/^HTTP\/1.1 503 [^]*server_is_overloaded/);
  });

  it('makes one line in the log, and the health check fail', async () => {
    expect(verdict()).toEqual({ ok: true });
    await fill();
    for (let sent = 0; sent < 3; sent++) {
      const client = await connect();
      client.send(get('/'));
      await client.end();
    }
    expect(lines).toEqual([expect.stringContaining('refused with 503')]);
    expect(verdict()).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/503 once 2 are open\..*ulimit -n, now 16/),
    });
  });
});

it('a connection is served as before once another one has closed', async () => {
  await fill();
  clients[0]?.[Symbol.dispose]();
  await vi.waitFor(() => expect(readGauges()['client_connections']).toEqual([{ value: 1 }]));
  const client = await connect();
  client.send(get('/again'));
  await client.waitFor('/again');
  expect(client.socket.destroyed).toBe(false);
});

it('the limit is at most what the open files allow', () => {
  const most = maxConnectionsFor(1_000);
  const small = new ConnectionLimit(undefined as never, 1_000);
  small.apply(1_000_000);
  expect(small.description).toBe(`accepting up to ${most} client connections; the system allows 1000 open files`);
  expect(most).toBe((1_000 - bounds.reservedFiles - bounds.surplusConnections) / 2);
});

it('a system without a limit has none here', () => {
  const unlimited = new ConnectionLimit(undefined as never, Number.POSITIVE_INFINITY);
  unlimited.apply();
  expect(unlimited.description).toBeUndefined();
});
