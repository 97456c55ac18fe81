import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { generateApiKey } from '#core/business/accounts/api-key.ts';
import { startAnsweringUpstream } from '../support/answering-upstream.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../support/gateway.ts';
import { execute, withDatabase } from '../support/global-postgres.ts';
import { type RedisServer, startRedis } from '../support/global-redis.ts';
import { redisUrl } from '../support/redis.ts';
import { createTcpProxy, type ProxyMode, type TcpProxy } from '../support/tcp-proxy.ts';

/** Ms until the gateway has recovered once a dependency is back, with room for a busy machine. */
const recovery = { timeout: 20_000, interval: 50 };

let upstream: Awaited<ReturnType<typeof startAnsweringUpstream>>;
let home: GatewayHome;
let gateway: GatewayProcess;
let database: TcpProxy;
let redis: TcpProxy | undefined;
let ownRedis: RedisServer | undefined;

beforeAll(async () => {
  upstream = await startAnsweringUpstream();
  home = await createGatewayHome(yamlFor(upstream.baseUrl));
  database = await proxyTo(home.databaseUrl, 5432);
  ownRedis = await startRedis();
  const redisServer = ownRedis?.url ?? redisUrl;
  redis = redisServer === undefined ? undefined : await proxyTo(redisServer, 6379);
  gateway = await home.start({
    DATABASE_URL: through(database, home.databaseUrl),
    ...(redis !== undefined && redisServer !== undefined && { REDIS_URL: through(redis, redisServer) }),
  });
  expect((await ask()).status).toBe(200);
}, 60_000);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
  await ownRedis?.stop();
  await upstream[Symbol.asyncDispose]();
});

function proxyTo(url: string, usualPort: number): Promise<TcpProxy> {
  const { hostname: host, port } = new URL(url);
  return createTcpProxy({ host, port: Number(port || usualPort) });
}

function through({ port }: TcpProxy, url: string): string {
  const changed = new URL(url);
  changed.host = `127.0.0.1:${port}`;
  return changed.href;
}

/** Requests sent so far, which is the expected number of records. */
let askedCount = 0;

/** Fails after ten seconds: no dependency may delay a request for long. */
function ask(key: string = home.key): Promise<Response> {
  askedCount++;
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'test', messages: [{ role: 'user', content: 'hi' }] }),
    signal: AbortSignal.timeout(10_000),
  });
}

async function statusesOf(count: number): Promise<number[]> {
  const answers: number[] = [];
  for (let index = 0; index < count; index++) answers.push((await ask()).status);
  return answers;
}

async function recordCount(): Promise<number> {
  const [row] = await home.database.query<{ count: string }>('SELECT count(*) AS count FROM request_log');
  return Number(row?.count);
}

interface Readiness {
  readonly status: string;
  readonly checks: { name: string; ok: boolean; reason?: string }[];
}

async function readiness(): Promise<Readiness & { readonly code: number }> {
  const answer = await fetch(`${gateway.operatorUrl}/readyz?verbose`, { signal: AbortSignal.timeout(10_000) });
  return { code: answer.status, ...((await answer.json()) as Readiness) };
}

/** Every dependency answers, and every record has arrived. */
async function isWhole(): Promise<void> {
  const { status, checks } = await readiness();
  expect([status, checks.filter(({ ok }) => !ok)]).toEqual(['ok', []]);
}

/** Sends requests during a failure: they are served meanwhile and recorded afterwards. */
async function survive(wrong: () => Promise<void> | void, right: () => Promise<void> | void): Promise<void> {
  await vi.waitFor(isWhole, recovery);
  expect((await ask()).status).toBe(200);
  await wrong();
  try {
    expect(await statusesOf(5)).toEqual([200, 200, 200, 200, 200]);
  } finally {
    await right();
  }
  await vi.waitFor(isWhole, recovery);
  await vi.waitFor(async () => expect(await recordCount()).toBe(askedCount), recovery);
}

const ways: readonly [string, ProxyMode][] = [
  ['is away', 'cut'],
  ['does not answer', 'stall'],
];

describe('while PostgreSQL', () => {
  it.each(ways)('%s, known keys are served and their records wait', async (_name, mode) => {
    await survive(
      () => database.turn(mode),
      () => database.turn('open'),
    );
  });

  it.each(ways)('%s, an unknown key gets 503 with Retry-After', async (_name, mode) => {
    await vi.waitFor(isWhole, recovery);
    database.turn(mode);
    try {
      const answer = await ask(generateApiKey('dp'));
      expect([answer.status, answer.headers.has('retry-after')]).toEqual([503, true]);
    } finally {
      database.turn('open');
    }
    await vi.waitFor(isWhole, recovery);
  });

  it('is down, the gateway is ready and reports that it is degraded, and why', async () => {
    await vi.waitFor(isWhole, recovery);
    database.turn('cut');
    try {
      const { code, status, checks } = await readiness();
      expect([code, status]).toEqual([200, 'degraded']);
      const reason = checks.find(({ ok }) => !ok)?.reason;
      expect(reason).toMatch(/^PostgreSQL is unavailable \(connection (lost|refused)\): /);
    } finally {
      database.turn('open');
    }
    await vi.waitFor(isWhole, recovery);
  });

  it('is read-only, known keys are served and their records wait', async () => {
    const name = new URL(home.databaseUrl).pathname.slice(1);
    const admin = withDatabase(home.databaseUrl, 'postgres');
    const setReadOnly = async (value: 'on' | 'off') => {
      await execute(admin, `ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
      await execute(
        admin,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND application_name = 'daypass'`,
      );
    };
    await survive(
      () => setReadOnly('on'),
      () => setReadOnly('off'),
    );
  });
});

/** Sends a command to the tests' own Redis; another Redis on this machine must not change. */
const tell = async (...command: [string, ...string[]]) => {
  const client = new Redis(ownRedis?.url ?? '', { maxRetriesPerRequest: 0 });
  try {
    await client.call(...command);
  } finally {
    client.disconnect();
  }
};

describe('while Redis', () => {
  it.skipIf(redisUrl === undefined).each(ways)(
    '%s, keys are served and limits are enforced locally',
    async (_name, mode) => {
      await survive(
        async () => {
          redis?.turn(mode);
          // A few requests are over before silence counts as a failure.
          await vi.waitFor(async () => {
            expect((await ask()).status).toBe(200);
            expect(gateway.output()).toContain('rate limits apply to each instance separately');
          }, recovery);
        },
        () => redis?.turn('open'),
      );
    },
  );

  const states: readonly [string, [string, ...string[]], [string, ...string[]]][] = [
    ['is full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['only reads', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ];
  it.for(states)('%s, keys are served', async ([_name, begin, end], { skip }) => {
    skip(ownRedis === undefined, 'there is no redis-server to be changed');
    await survive(
      () => tell(...begin),
      () => tell(...end),
    );
  });
});
