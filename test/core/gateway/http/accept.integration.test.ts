import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bindSockets, type BoundSocket, listenOnSockets, resolveListenAddress } from '#core/gateway/http/accept.ts';

const host = '127.0.0.1';
let listener: ReturnType<typeof createServer>;
beforeEach(() => {
  listener = createServer((_request, response) => response.end('fine'));
});
afterEach(() => {
  listener.close();
  listener.closeAllConnections();
});

const listen = (port = 0) => listenOnSockets(listener, { port, host }, () => undefined);
const portOf = (server: Server) => (server.address() as AddressInfo).port;

it.runIf(process.platform === 'linux')('several connections are accepted in a turn of the event loop', async () => {
  await listen();
  const accepted: unknown[] = [];
  listener.on('connection', (socket) => accepted.push(socket));
  const clients = Array.from({ length: 64 }, () => connect(portOf(listener), host));
  let turns = 0;
  for (; accepted.length < clients.length; turns++) await new Promise(setImmediate);
  for (const client of clients) client.destroy();
  expect(turns).toBeLessThan(clients.length / 2);
});

it('an address of both families takes IPv4 and IPv6, or IPv4 alone where the machine has no IPv6', async () => {
  const usable = await resolveListenAddress('::');
  await listenOnSockets(listener, { port: 0, host: '::' }, () => undefined);
  for (const address of usable === '::' ? ['127.0.0.1', '::1'] : ['127.0.0.1']) {
    const [response] = await once(request({ port: portOf(listener), host: address, agent: false }).end(), 'response');
    expect((response as { readonly statusCode: number }).statusCode).toBe(200);
    (response as Readable).resume();
  }
  const bound = await bindSockets({ port: 0, host: '::' });
  expect(bound[0]?.address().address).toBe(usable);
  for (const socket of bound) socket.close();
});

const fail = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

it.each(['EAFNOSUPPORT', 'EADDRNOTAVAIL'])('without IPv6 (%s), all addresses are those of IPv4', async (code) => {
  expect(await resolveListenAddress('::', fail(code))).toBe('0.0.0.0');
  expect(await resolveListenAddress('::1', fail(code))).toBe('::1');
  await expect(resolveListenAddress('::', fail('EACCES'))).rejects.toMatchObject({ code: 'EACCES' });
});

it('a port that another process listens on is refused', async () => {
  const other = createTcpServer().listen(0, host);
  await once(other, 'listening');
  await expect(listen(portOf(other))).rejects.toMatchObject({ code: 'EADDRINUSE' });
  other.close();
});

it('a port that another gateway listens on is refused', async () => {
  const other = createServer();
  await listenOnSockets(other, { port: 0, host }, () => undefined);
  await expect(listen(portOf(other))).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await new Promise((resolve) => other.close(resolve));
});

it('closing refuses new connections at once, and waits for the open ones', async () => {
  await listen();
  const port = portOf(listener);
  const gate = Promise.withResolvers<void>();
  listener.removeAllListeners('request').on('request', (_request, response) => {
    void gate.promise.then(() => response.end('fine'));
  });
  const waiting = Array.from({ length: 16 }, async () => {
    const [response] = await once(request({ port, host, agent: false }).end(), 'response');
    return (response as AsyncIterable<Buffer>)[Symbol.asyncIterator]().next();
  });
  for (let count = 0; count < 16; count++) await once(listener, 'request');
  const events: string[] = [];
  const closed = new Promise<void>((resolve) => listener.close(() => resolve())).then(() => events.push('closed'));
  await expect(once(connect(port, host), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  events.push('answered');
  gate.resolve();
  await Promise.all([...waiting, closed]);
  expect(events).toEqual(['answered', 'closed']);
});

it('bound sockets keep the connections that nobody has accepted yet for the next listener', async () => {
  const bound = await bindSockets({ port: 0, host });
  const { port } = (bound[0] as BoundSocket).address();
  // A listener closes its descriptor, so that of another process is needed, as workers have it.
  const script = `
    const servers = [${bound.map((_, index) => index + 3).join()}].map((fd) => require('node:http').createServer((_request, response) => response.end('fine')).listen({ fd }));
    process.stdin.once('data', () => { for (const server of servers) server.close(); });
    Promise.all(servers.map((server) => require('node:events').once(server, 'listening'))).then(() => console.log('listening'));`;
  const start = () =>
    spawn(process.execPath, ['-e', script], {
      stdio: ['pipe', 'pipe', 'inherit', ...bound.map((socket) => socket.fd())],
    });
  const first = start();
  await once(first.stdout as Readable, 'data');
  await expect(bindSockets({ port, host })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  first.kill('SIGSTOP');
  const asked = Array.from({ length: 16 }, async () => {
    const [response] = await once(request({ port, host, agent: false }).end(), 'response');
    return (response as { statusCode: number }).statusCode;
  });
  const second = start();
  expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
  first.kill('SIGKILL');
  second.kill('SIGKILL');
  for (const socket of bound) socket.close();
});

it('a listener that ends its accepting keeps idle connections and answers on them', async () => {
  const stopAccepting = await listen();
  const port = portOf(listener);
  const agent = new Agent({ keepAlive: true });
  const ask = async () => {
    const sent = request({ port, host, agent }).end();
    const [response] = await once(sent, 'response');
    await (response as Readable).resume().toArray();
    return sent.reusedSocket;
  };
  expect(await ask()).toBe(false);
  stopAccepting();
  await expect(once(connect(port, host), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(await ask()).toBe(true);
  agent.destroy();
});
