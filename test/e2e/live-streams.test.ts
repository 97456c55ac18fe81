import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { type EventStream, openEventStream } from '../support/event-stream.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, wholePipeline } from '../support/gateway.ts';
import { redisUrl } from '../support/redis.ts';
import { createTcpProxy, type ProxyMode, type TcpProxy } from '../support/tcp-proxy.ts';

vi.setConfig({ testTimeout: 60_000 });

let home: GatewayHome;
let postgres: TcpProxy;
let redis: TcpProxy | undefined;
let one: GatewayProcess;
let two: GatewayProcess;

beforeAll(async () => {
  home = await createGatewayHome(`${wholePipeline}
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] }, other: { routes: [demo/chatty] } }
`);
  const url = new URL(home.databaseUrl);
  postgres = await createTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${postgres.port}`;
  const environment = { DATABASE_URL: url.href, ...(redisUrl !== undefined && (await throughProxy(redisUrl))) };
  one = await home.start(environment);
  // Without Redis a database has one gateway.
  two = redisUrl === undefined ? one : await home.start(environment);
}, 120_000);

afterAll(async () => {
  await home?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

async function throughProxy(shared: string): Promise<{ REDIS_URL: string }> {
  const url = new URL(shared);
  redis = await createTcpProxy({ host: url.hostname, port: Number(url.port || 6379) });
  url.host = `127.0.0.1:${redis.port}`;
  return { REDIS_URL: url.href };
}

/** A session of the account, as a sign-in opens it. */
async function newSession(accountId = home.accountId) {
  const { token, id } = await new Sessions(home.database).create(accountId, 'test');
  return { id, headers: { cookie: `dp_session=${token}` } };
}

async function openHome(gateway: GatewayProcess, more: Record<string, string> = {}): Promise<EventStream> {
  const { headers } = await newSession();
  return openEventStream(`${gateway.url}/dashboard/live`, { ...headers, ...more }, 30_000);
}

function isLatest({ name }: { readonly name: string }): boolean {
  return name === 'latest';
}

/** The first of the rows that the page shows now. */
function newestRow({ events }: EventStream): string {
  const { data = '' } = events.findLast(isLatest) ?? {};
  return /data-row="(req_[^"]+)"/.exec(data)?.[1] ?? '';
}

/** The first bytes of a stream. */
async function firstText(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { headers });
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return Buffer.from(value ?? []).toString();
}

async function call(gateway: GatewayProcess, model: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${home.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: `dp/${model}`, messages: [{ role: 'user', content: 'hello' }] }),
  });
  await response.text();
}

// The last test stops an instance.
describe('the stream of an open page', { shuffle: false }, () => {
  it('shows a request that went through another instance', async () => {
    await using stream = await openHome(two);
    await stream.find(isLatest);
    await call(one, 'demo');
    const rows = await stream.find(({ name, data }) => name === 'latest' && data.includes('dp/demo'));
    expect(rows.data).toContain('data-row="req_');
    await stream.find(({ name, data }) => name === 'empty' && !data.includes('No requests yet'));
  });

  it('is neither compressed, nor stored, nor held back by proxies', async () => {
    await using stream = await openHome(one, { 'accept-encoding': 'gzip' });
    expect(stream.status).toBe(200);
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(stream.headers.get('content-encoding')).toBeNull();
  });

  it('sends nothing that the page already has', async () => {
    await using first = await openHome(one);
    const { id } = await first.find((event) => event.id !== '');
    await using again = await openHome(two, { 'last-event-id': id });
    await again.find(({ name }) => name === 'live-open');
    await call(one, 'other');
    await again.find(({ name, data }) => name === 'latest' && data.includes('dp/other'));
    // The rate limit may have changed with time; the models have changed only now.
    expect(again.events.filter(({ name }) => name === 'models')).toHaveLength(1);
  });

  it('opens for hundreds that reconnect at once, each with a different reconnection time', async () => {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => newSession()));
    const streams = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        openEventStream(`${one.url}/dashboard/live`, sessions[index % sessions.length]?.headers),
      ),
    );
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
    await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()));
    const texts = await Promise.all(sessions.map(({ headers }) => firstText(`${one.url}/dashboard/live`, headers)));
    const times = texts.map((text) => Number(/^retry: (\d+)$/m.exec(text)?.[1]));
    expect(Math.min(...times)).toBeGreaterThanOrEqual(1_000);
    expect(new Set(times).size).toBeGreaterThan(10);
  });

  it('is refused without a session', async () => {
    await using stream = await openEventStream(`${one.url}/dashboard/live`);
    expect(stream.status).toBe(401);
  });

  it('answers HEAD without opening a stream', async () => {
    const { headers } = await newSession();
    const response = await fetch(`${one.url}/dashboard/live`, { method: 'HEAD', headers });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('ends within seconds when its session is revoked', async () => {
    const { id, headers } = await newSession();
    await using stream = await openEventStream(`${one.url}/dashboard/live`, headers);
    await stream.find(isLatest);
    await new Sessions(home.database).revoke(home.accountId, id);
    const end = await stream.find(({ name }) => name === 'live-end');
    expect(end.data).toBe('signed_out');
    await stream.ended;
  });

  it('stays open and reports it while the database is down, and continues when it is back', async () => {
    await using stream = await openHome(one);
    await stream.find(isLatest);
    postgres.turn('cut');
    await stream.find(({ name, data }) => name === 'live-state' && data === 'stopped');
    await call(one, 'demo');
    postgres.turn('open');
    await stream.find(({ name, data }) => name === 'live-state' && data === 'live');
    const before = stream.events.length;
    await call(one, 'demo');
    await vi.waitFor(() => expect(stream.events.slice(before).map(({ name }) => name)).toContain('latest'), 30_000);
  });

  it.skipIf(redisUrl === undefined).each<[string, ProxyMode]>([
    ['is away', 'cut'],
    ['does not answer', 'stall'],
  ])('continues while Redis %s, and then shows the requests of other instances', async (_, mode) => {
    await using own = await openHome(one);
    await using other = await openHome(two);
    for (const stream of [own, other]) await stream.find(isLatest);
    const before = newestRow(own);
    redis?.turn(mode);
    try {
      await call(one, 'demo');
      await vi.waitFor(() => expect(newestRow(own)).not.toBe(before), 20_000);
      // A page that is opened meanwhile shows all of it.
      await using late = await openHome(two);
      await late.find(({ name, data }) => name === 'latest' && data.includes(newestRow(own)));
    } finally {
      redis?.turn('open');
    }
    const row = newestRow(own);
    await other.find(({ name, data }) => name === 'latest' && data.includes(row));
    await call(one, 'other');
    await vi.waitFor(() => {
      expect(newestRow(own)).not.toBe(row);
      expect(newestRow(other)).toBe(newestRow(own));
    }, 20_000);
    for (const stream of [own, other]) expect(stream.events.map(({ name }) => name)).not.toContain('live-end');
  });

  it('ends above the limit for an account', async () => {
    const { headers } = await newSession();
    const open = () => openEventStream(`${one.url}/dashboard/live`, headers);
    const streams = await Promise.all(Array.from({ length: bounds.accountStreams + 5 }, open));
    const tooMany = () =>
      streams.filter(({ events }) => events.some(({ name, data }) => name === 'live-end' && data === 'too_many'));
    await vi.waitFor(() => expect(tooMany().length).toBeGreaterThanOrEqual(5), 10_000);
    await Promise.all(streams.map((stream) => stream[Symbol.asyncDispose]()));
  });

  it('does not delay the stop of a gateway', async () => {
    await using stream = await openHome(two);
    await stream.find(isLatest);
    const begun = performance.now();
    expect(await two.end('SIGTERM')).toBe(0);
    await stream.ended;
    expect(performance.now() - begun).toBeLessThan(15_000);
  });
});
