import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { Agent } from 'undici';
import { request } from 'undici';
import { hostileRequests } from './attacks.ts';
import { attacks as largeBodies } from './experiments/memory.ts';
import { flood } from './experiments/pipelining.ts';
import { depart } from './experiments/resets.ts';
import { sendInBytes } from './experiments/tiny-chunks.ts';

/** What strangers and hostile customers do, again and again. */
export interface Target {
  /** Of the public or of the operator's port. */
  readonly url: string;
  /** Of a customer who is hostile. */
  readonly key: string;
  readonly dispatcher: Agent;
  /** Counts the turns of this attacker. */
  readonly turn: number;
}

const MiB = 1024 * 1024;
const longest = 5_000; // ms for which one of them goes on
const pathsOfPages = ['/', '/status.json', '/livez', '/v1/models', '/setup.sh', '/openapi.json', '/docs', '/sign-in'];
const hostile = hostileRequests(true);

/** Opens a connection and writes to it. It is closed after a while, or when the other side has closed it. */
async function send(url: string, ...parts: readonly (string | Buffer)[]): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const closed = once(socket.resume(), 'close').catch(() => undefined);
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(part);
    if (parts.length > 1) await Promise.race([setTimeout(20), closed]);
  }
  await Promise.race([setTimeout(longest / 10), closed]);
  socket.destroy();
}

async function hold(url: string, count: number, first: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const open = (): Socket => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.resume().write(first);
    return socket;
  };
  const sockets = Array.from({ length: count }, open);
  await setTimeout(longest);
  for (const socket of sockets) socket.destroy();
}

async function ask({ url, dispatcher }: Target, path: string, options: object = {}): Promise<void> {
  const signal = AbortSignal.timeout(longest * 4);
  const { body } = await request(url + path, { dispatcher, signal, ...options });
  await body.dump({ limit: 64 * MiB });
}

const lines = (...given: readonly string[]) => `${given.join('\r\n')}\r\n\r\n`;
const host = 'Host: x';
const post = 'POST /v1/chat/completions HTTP/1.1';
const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
const pageAt = (turn: number) => pathsOfPages[turn % pathsOfPages.length] as string;
const json = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

/** By kind. Each plays once and ends within seconds. */
export const strangers: Readonly<Record<string, (target: Target) => Promise<unknown>>> = {
  'resets and half-closes': async ({ url, key, turn }) => depart(Number(new URL(url).port), key, turn, 'stranger'),
  'pipelined requests': async ({ url, turn }) => {
    using _flood = flood(url, pageAt(turn), turn % 2 === 0);
    await setTimeout(500);
  },
  'forms in chunks of one byte': ({ url }) =>
    sendInBytes(url, '/sign-in', `next=${'x'.repeat(10_000)}`, { 'content-type': 'application/x-www-form-urlencoded' }),
  'JSON that takes long to read': async (target) => {
    const { path, headers, body } = hostile[target.turn % hostile.length] as (typeof hostile)[number];
    await ask(target, path, { method: 'POST', headers: { ...json(target.key), ...headers }, body: body() });
  },
  'the same without a key': async (target) => {
    const { path, body } = hostile[target.turn % hostile.length] as (typeof hostile)[number];
    await ask(target, path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: body() });
  },
  'bodies and answers that fill memory': async (target) => {
    const kinds = Object.values(largeBodies);
    await kinds[target.turn % kinds.length]?.(target);
  },
  'heads of single bytes': ({ url }) => send(url, ...lines(`GET ${pageAt(0)} HTTP/1.1`, host)),
  'connections that say nothing': ({ url }) => hold(url, 50, ''),
  'connections that begin a head': ({ url }) => hold(url, 50, 'GET / HTTP/1.1\r\nHost: '),
  'live pages': ({ url }) => hold(url, 20, lines('GET /status/live HTTP/1.1', host)),
  'huge headers': ({ url }) => send(url, lines('GET / HTTP/1.1', host, `X-Long: ${'x'.repeat(MiB)}`)),
  'many headers': ({ url }) => send(url, lines('GET / HTTP/1.1', host, ...Array(5_000).fill('X: y'))),
  'a huge path': ({ url }) => send(url, lines(`GET /${'a/'.repeat(MiB / 4)} HTTP/1.1`, host)),
  'random bytes': ({ url }) => send(url, randomBytes(10_000)),
  'TLS and HTTP/2 on a plain port': async ({ url }) => {
    await send(url, Buffer.from('16030100c8010000c40303', 'hex'), randomBytes(200));
    await send(url, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', randomBytes(100));
  },
  'two lengths of one body': ({ url, key }) =>
    send(
      url,
      lines(post, host, `Authorization: Bearer ${key}`, 'Content-Length: 5', 'Transfer-Encoding: chunked'),
      '0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n',
    ),
  'chunk extensions without end': ({ url }) =>
    send(url, lines('POST /sign-in HTTP/1.1', host, 'Transfer-Encoding: chunked'), '1;', `${'x=y;'.repeat(MiB / 8)}`),
  'bodies that are announced and do not come': ({ url, key }) =>
    send(url, lines(post, host, `Authorization: Bearer ${key}`, 'Expect: 100-continue', 'Content-Length: 30000000')),
  'paths that are not paths': async ({ url }) => {
    for (const path of ['/../../etc/passwd', '/%00', '/%', '/%c0%ae', '//x', '*', '/assets/..%2f..%2f'])
      await send(url, lines(`GET ${path} HTTP/1.1`, host));
  },
  'methods and upgrades that nobody offers': async ({ url }) => {
    await send(url, lines('CONNECT x:80 HTTP/1.1', host), lines('TRACE / HTTP/1.1', host));
    await send(url, lines('GET / HTTP/1.1', host, 'Connection: Upgrade', 'Upgrade: websocket'));
  },
  'keys that do not exist': (target) =>
    ask(target, '/v1/models', { headers: { authorization: `Bearer dp-${randomBytes(24).toString('base64url')}` } }),
  'forms and notifications of nobody': async (target) => {
    await ask(target, '/sign-in', { ...form, body: `next=${randomBytes(200).toString('hex')}` });
    await ask(target, '/hooks/midtrans', { ...form, body: '{"order_id":"x","status_code":"200"}' });
  },
  pages: (target) => ask(target, pageAt(target.turn)),
};
