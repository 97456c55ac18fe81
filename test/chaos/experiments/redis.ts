import { Redis } from 'ioredis';
import type { GatewayProcess } from '../../support/gateway-home.ts';
import { type OwnRedisServer, startRedis } from '../../support/global-redis.ts';
import { createTcpProxy } from '../../support/tcp-proxy.ts';
import type { Client } from '../client.ts';
import { type Experiment, type Figure, inParallel, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';
import { describeObservation } from '../records.ts';

const clients = 16;
/** Ms that the slow Redis takes for each answer. */
const latency = 200;
/** Loads with a stopped and with a slow Redis, each between two loads with a healthy one, and the requests of a load. */
const pairs = { long: 10, usual: 6, short: 1 };
const requests = { long: 200, usual: 200, short: 100 };
/** Ms of an outage before a burst, and how many there are. */
const outage = 1_000;
const rounds = { long: 10, usual: 6 };
/** Requests that two instances may let pass together. */
const limit = 100;

/** Redis stops or becomes slow: what requests wait for it, and what limits let pass. */
export const redis: Experiment = {
  name: 'redis',
  description: 'Redis is stopped, slow, or back; limits are exact while /readyz is clean',
  async run({ postgres, isShort, isLong, print }) {
    await using server = await startRedis();
    if (server === undefined) {
      print('  there is no redis-server on this machine');
      return [];
    }
    const { hostname: host, port } = new URL(server.url);
    await using proxy = await createTcpProxy({ host, port: Number(port) });
    const url = `redis://127.0.0.1:${proxy.port}`;
    const length = isShort ? 'short' : isLong ? 'long' : 'usual';
    const count = requests[length];
    await using fixture = await openChaosFixture(postgres);
    const gateway = await fixture.serve({ REDIS_URL: url });
    // Unmeasured: the first requests compile what they run through.
    await ask(fixture, gateway, isShort ? clients : clients * 20);
    const stopped: Pair[] = [];
    const slow: Pair[] = [];
    let usual = await ask(fixture, gateway, count);
    for (let pair = 0; pair < pairs[length]; pair++) {
      server.signal('SIGSTOP');
      const whileStopped = await ask(fixture, gateway, count);
      server.signal('SIGCONT');
      await untilClean(gateway);
      const between = await ask(fixture, gateway, count);
      proxy.delay(latency);
      const whileSlow = await ask(fixture, gateway, count);
      proxy.delay(0);
      await untilClean(gateway);
      const after = await ask(fixture, gateway, count);
      stopped.push({ load: whileStopped, usual: [usual, between] });
      slow.push({ load: whileSlow, usual: [between, after] });
      usual = after;
    }
    const lost = [...stopped, ...slow].flatMap(({ load }) => load.failed);
    return [
      added('while Redis is stopped', stopped, 50),
      added(`while Redis takes ${latency} ms`, slow, 60),
      noneOf('lost while Redis was stopped or slow', count * pairs[length] * 2, lost),
      await changeRights(fixture, server, count),
      // Two more gateways, for a figure that a busy machine can miss.
      ...(isShort ? [] : await shareLimits(fixture, server, rounds[isLong ? 'long' : 'usual'])),
    ];
  },
};

/** Rights that an access list takes from the gateway's user. */
const losses = [
  'resetchannels',
  '-subscribe',
  '-@pubsub',
  '-select',
  '-client',
  '-info',
  '-@scripting',
  '-@all',
  'off',
];

/** An access list that changes under a gateway whose connections are cut then. It serves all the while, and is degraded at most. */
async function changeRights(fixture: ChaosFixture, server: OwnRedisServer, count: number): Promise<Figure> {
  const admin = new Redis(server.url);
  const give = (...rules: string[]) => admin.call('ACL', 'SETUSER', 'chaos', ...rules);
  const all = ['on', '>secret', '~*', '&*', '+@all'];
  await give(...all);
  const url = new URL(server.url);
  Object.assign(url, { username: 'chaos', password: 'secret', pathname: '/1' });
  const gateway = await fixture.serve({ REDIS_URL: url.href });
  const lost: string[] = [];
  try {
    for (const loss of losses) {
      await give(loss);
      await admin.call('ACL', 'LOG', 'RESET');
      await admin.call('CLIENT', 'KILL', 'USER', 'chaos');
      // The second load comes when the gateway has connected again, or was refused.
      for (let load = 0; load < 2; load++) {
        const { failed } = await ask(fixture, gateway, Math.ceil(count / losses.length));
        lost.push(...failed.map((observation) => `${loss}: ${observation}`));
      }
      await give(...all);
      await untilClean(gateway);
    }
  } finally {
    admin.disconnect();
  }
  if (gateway.process.exitCode !== null) lost.push(`the gateway ended with ${gateway.process.exitCode}`);
  return noneOf(`lost while an access list took ${losses.length} kinds of rights`, count * 2, lost);
}

/** A load with a faulty Redis, and those with a healthy one before and after it. */
interface Pair {
  readonly load: Load;
  readonly usual: readonly Load[];
}

interface Load {
  readonly times: readonly number[]; // ms
  readonly failed: readonly string[];
}

async function ask(fixture: ChaosFixture, gateway: GatewayProcess, count: number): Promise<Load> {
  const client = fixture.client(gateway);
  const seen = await inParallel(count, clients, () => client.ask({ format: 'chat', isStream: false, model: 'fine' }));
  return {
    times: seen.map(({ sentAt, endedAt }) => endedAt - sentAt),
    failed: seen.filter(({ ending }) => ending !== 'complete').map(describeObservation),
  };
}

/**
 * The median of what a faulty Redis has added in each pair: what else the machine does changes within seconds, and more than a
 * load differs from its neighbours.
 */
function added(name: string, all: readonly Pair[], most: number): Figure {
  const differences = all
    .map(({ load, usual }) => p99(load.times) - p99(usual.flatMap(({ times }) => times)))
    .toSorted((a, b) => a - b);
  const median = differences[Math.floor(differences.length / 2)] ?? Infinity;
  const base = p99(all.flatMap(({ usual }) => usual.flatMap(({ times }) => times)));
  const [least, greatest] = [differences[0], differences.at(-1)].map((value) => value?.toFixed(0));
  return {
    name: `added p99 ${name}, median of ${all.length}`,
    count: all.reduce((sum, { load }) => sum + load.times.length, 0),
    seen: `${median.toFixed(0)} ms (${least} to ${greatest}, beside a p99 of ${base.toFixed(0)} ms)`,
    aim: `at most ${most} ms`,
    isMet: median <= most,
    isTimed: true,
    limit: { ms: most, of: 'elapsed' },
  };
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Infinity;
}

/** Two instances with one limit, and a Redis that stops and goes on: a burst once `/readyz` is clean. */
async function shareLimits(fixture: ChaosFixture, server: OwnRedisServer, count: number): Promise<Figure[]> {
  const shared = `rate-limit: { limit: ${limit}, period: 86400, burst: ${limit}, concurrent: 1000 }`;
  await fixture.home.write(fixture.yaml.replace(/rate-limit: .*/, shared));
  const environment = { REDIS_URL: server.url };
  const both = await Promise.all([fixture.serve(environment), fixture.serve(environment)]);
  const asked = both.map((gateway) => fixture.client(gateway));
  const admin = new Redis(server.url);
  const wrong: string[] = [];
  try {
    for (let round = 0; round < count; round++) {
      await admin.flushall();
      server.signal('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, outage));
      server.signal('SIGCONT');
      await Promise.all(both.map(untilClean));
      const seen = await inParallel(limit * 3, limit * 3, async (index) =>
        (asked[index % 2] as Client).ask({ format: 'chat', isStream: false, model: 'fine' }),
      );
      const passed = seen.filter(({ status }) => status === 200).length;
      if (passed !== limit) wrong.push(`${passed} of ${limit} passed`);
    }
  } finally {
    admin.disconnect();
  }
  const name = `bursts of ${limit * 3} over two instances, after an outage, of which not exactly ${limit} passed`;
  return [{ ...noneOf(name, count, wrong), isTimed: true }];
}

/** Waits until `/readyz` says that every dependency answers. */
async function untilClean({ operatorUrl }: GatewayProcess): Promise<void> {
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    const response = await fetch(`${operatorUrl}/readyz?verbose`);
    const { status } = (await response.json()) as { status: string };
    if (status === 'ok') return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('timed out waiting for Redis');
}
