import dns from 'node:dns';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivery } from '#core/gateway/facts.ts';
import { ConnectionPool } from '../../../../plugins/upstream/connections/connection-pool.ts';
import { getTarget } from '../../../../plugins/upstream/connections/connections.ts';
import { testCertificate, testKey, trustTestCertificate } from '../../../support/tls-upstream.ts';
import { createRelayFixture, exchangeFor, refusalOf, routeTo, upstreamAt } from '../fixture.ts';

/** What an upstream saw of a connection. */
interface Seen {
  readonly serverName: string | false | null;
  readonly protocol: string | false | null;
  readonly isResumed: boolean;
}

let stack: AsyncDisposableStack;
let seen: Seen[];
beforeEach(() => {
  stack = new AsyncDisposableStack();
  seen = [];
});
afterEach(() => stack.disposeAsync());

/** An upstream on TLS that answers every request with the bytes of its body. */
async function echo(host = '127.0.0.1', maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3'): Promise<number> {
  const sockets = new Set<Socket>();
  const options = { key: testKey, cert: testCertificate, ALPNProtocols: ['h2', 'http/1.1'], maxVersion };
  const server = createServer(options, (socket: TLSSocket) => {
    seen.push({ serverName: socket.servername, protocol: socket.alpnProtocol, isResumed: socket.isSessionReused() });
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const end = received.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/.exec(received.toString('latin1', 0, end))?.[1]);
      const body = received.subarray(end + 4);
      if (end === -1 || body.length < length) return;
      received = Buffer.alloc(0);
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`);
      socket.write(body);
    });
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  stack.defer(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const trust = () => stack.defer(trustTestCertificate());

function open(origin: string, serverName?: string): ConnectionPool {
  const pool = new ConnectionPool(origin, { quarantineMs: 0, maxAgeMs: 60_000, connectTimeoutSeconds: 5, serverName });
  return stack.adopt(pool, (opened) => opened.destroy());
}

/** The body that comes back. @param pauses after each of its reads */
async function ask(pool: ConnectionPool, body: string | Buffer = 'hi', pauses = false): Promise<Buffer> {
  const answer = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  pool.dispatch(
    { origin: '', path: '/', method: 'POST', body },
    {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: (control, chunk) => {
        chunks.push(chunk);
        if (!pauses) return;
        control.pause();
        setImmediate(() => control.resume());
      },
      onResponseEnd: () => answer.resolve(Buffer.concat(chunks)),
      onResponseError: (_control, error) => answer.reject(error),
    },
  );
  const bytes = await answer.promise;
  await new Promise(setImmediate); // The connection goes back to its pool after the answer.
  return bytes;
}

describe('a connection with TLS', () => {
  it('a connection with TLS is to the name of the upstream, for HTTP/1.1, and serves one request after the other', async () => {
    trust();
    const pool = open(`https://localhost:${await echo()}`);
    expect((await ask(pool)).toString()).toBe('hi');
    expect((await ask(pool, 'there')).toString()).toBe('there');
    expect(seen).toEqual([{ serverName: 'localhost', protocol: 'http/1.1', isResumed: false }]);
  });

  it('a connection with TLS to an address names no server', async () => {
    trust();
    const pool = open(`https://127.0.0.1:${await echo()}`);
    expect((await ask(pool)).toString()).toBe('hi');
    expect(seen[0]?.serverName).toBe(false);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'a connection with TLS resumes the session of another: %s',
    async (version) => {
      trust();
      const pool = open(`https://localhost:${await echo('127.0.0.1', version)}`);
      await ask(pool);
      await Promise.all([ask(pool), ask(pool)]);
      expect(seen.map(({ isResumed }) => isResumed)).toEqual([false, true]);
    },
  );

  it.each([false, true])(
    'a connection with TLS brings megabytes in both directions, with pauses: %s',
    async (pauses) => {
      trust();
      const body = Buffer.alloc(3_000_000, 'Lorem ipsum dolor sit amet, ');
      const pool = open(`https://localhost:${await echo()}`);
      expect((await ask(pool, body, pauses)).equals(body)).toBe(true);
      expect((await ask(pool, 'and again', pauses)).toString()).toBe('and again');
    },
  );

  it('a connection with TLS is refused when the certificate is not trusted', async () => {
    const pool = open(`https://localhost:${await echo()}`);
    await expect(ask(pool)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('a connection with TLS is refused when the certificate has another name', async () => {
    trust();
    const pool = open(`https://localhost:${await echo()}`, 'vendor.example');
    await expect(ask(pool)).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('a connection with TLS fails when the other side speaks something else, or closes', async () => {
    for (const reply of ['220 mail.example.com ESMTP\r\n', undefined]) {
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        if (reply === undefined) socket.destroy();
        else socket.resume().end(reply);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
      const pool = open(`https://localhost:${(server.address() as AddressInfo).port}`);
      await expect(ask(pool)).rejects.toMatchObject({ code: /SSL|ECONNRESET/ });
    }
  });

  it('a connection with TLS says in the record what is wrong with the certificate', async () => {
    const fixture = createRelayFixture();
    const url = `https://localhost:${await echo()}`;
    const exchange = exchangeFor([routeTo(upstreamAt(url))]);
    expect((await refusalOf(fixture.relay(exchange))).code).toBe('upstream_failed');
    expect(exchange.get(delivery).attempts[0]?.error).toContain('(self-signed certificate');
  });
});

describe('a configured host', () => {
  it.each([
    ['that names another server', { HOST: 'vendor.example:8443' }, 'vendor.example'],
    ['that is an address', { host: '10.0.0.1' }, undefined],
    ['that is no host', { host: 'a b' }, undefined],
    ['that is not there', {}, undefined],
  ])('a configured host names the server for TLS: %s', (_name, headers, serverName) => {
    expect(getTarget(routeTo(upstreamAt('https://10.0.0.7/v1', { headers }))).serverName).toBe(serverName);
  });

  it('a configured host is the name that the certificate must have', async () => {
    trust();
    const port = await echo();
    const pool = open(`https://127.0.0.1:${port}`, 'localhost');
    expect((await ask(pool)).toString()).toBe('hi');
    expect(seen[0]?.serverName).toBe('localhost');
  });
});

describe('a name with several addresses', () => {
  const real = dns.lookup;
  afterEach(() => {
    dns.lookup = real;
  });

  it.each(['https', 'http'])(
    'a name with several addresses is reached at the one that answers, by %s',
    async (protocol) => {
      trust();
      const addresses = [
        { address: '::1', family: 6 },
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ];
      dns.lookup = ((_name: string, _options: object, callback: (error: null, found: object[]) => void) =>
        process.nextTick(callback, null, addresses)) as unknown as typeof dns.lookup;
      const port = protocol === 'https' ? await echo() : await plain();
      const pool = open(`${protocol}://localhost:${port}`);
      expect((await ask(pool)).toString()).toBe('hi');
      expect((await ask(pool)).toString()).toBe('hi');
    },
  );
});

/** An upstream without TLS that says hi. */
async function plain(): Promise<number> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => new Promise((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}
