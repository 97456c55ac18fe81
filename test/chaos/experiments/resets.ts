import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Client } from '../client.ts';
import { playOpen } from '../faults.ts';
import { type Experiment, inParallel, noneOf } from '../figure.ts';
import { type ChaosFixture, openChaosFixture } from '../fixture.ts';
import { countRecords, describeObservation } from '../records.ts';

/** A request whose client breaks off. */
interface Route {
  readonly line: string;
  readonly body?: object | string;
  /** True: each request has a record. */
  readonly hasKey?: boolean;
  /** True for the API without a key, of which most requests have no record. False for pages and health checks. */
  readonly isCounted?: boolean;
}

const chat = (model: string, stream: boolean) => ({ model, stream, messages: [{ role: 'user', content: 'hi' }] });
const post = { line: 'POST /v1/chat/completions' };

const routes: readonly Route[] = [
  { ...post, hasKey: true, body: chat('stays-open', true) },
  { ...post, hasKey: true, body: chat('fine', false) },
  { ...post, isCounted: true, body: chat('fine', true) },
  { line: 'GET /v1/models', hasKey: true },
  { line: 'GET /v1/models', isCounted: true },
  { line: 'GET /v1/nowhere', isCounted: true },
  { line: 'GET /' },
  { line: 'GET /status/live' },
  { line: 'GET /status.json' },
  { line: 'POST /sign-in', body: 'next=/' },
  { line: 'GET /nowhere' },
  { line: 'GET /livez' },
];

const write = (socket: Socket, text: string) => new Promise((resolve) => socket.write(text, resolve));
const halfOf = (text: string) => text.slice(0, Math.ceil(text.length / 2));

/** What a client does before it breaks off. */
const moments: Readonly<Record<string, (socket: Socket, head: string, body: string) => Promise<unknown>>> = {
  'before the head': async () => undefined,
  'inside the head': (socket, head) => write(socket, halfOf(head)),
  'after the head': (socket, head) => write(socket, head),
  'inside the body': (socket, head, body) => write(socket, head + halfOf(body)),
  'after the request': (socket, head, body) => write(socket, head + body),
  'a moment later': async (socket, head, body) => {
    await write(socket, head + body);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  },
  'at the first bytes of the response': async (socket, head, body) => {
    await write(socket, head + body);
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  },
};
const sendsHead = (moment: string) => !moment.endsWith('the head') || moment === 'after the head';

const waysOut = { reset: (socket: Socket) => socket.resetAndDestroy(), 'half-close': (socket: Socket) => socket.end() };

/** Every route at every moment in both ways. */
const departures = routes.flatMap((route) =>
  Object.entries(moments).flatMap(([moment, play]) =>
    Object.entries(waysOut).map(([way, leave]) => ({ route, moment, play, way, leave })),
  ),
);

/** Clients reset or half-close their connections at every moment, on every kind of route. */
export const resets: Experiment = {
  name: 'resets',
  description: 'clients reset or half-close their connections, while others are served',
  async run({ postgres, isShort, isLong }) {
    await using fixture = await openChaosFixture(postgres, { plays: { 'stays-open': playOpen }, keepsRequests: false });
    const gateway = await fixture.serve();
    const client = fixture.client(gateway);
    const leaving = leaveEverywhere(
      gateway.url,
      fixture.home.key,
      isShort ? 2 * departures.length : isLong ? 4_000 : 2_000,
    );
    const others = await askMeanwhile(client, leaving);
    const left = await leaving;
    const mistakes = await unrecorded(fixture, left.recorded);
    // It stores the counts of the last minute when it stops.
    await gateway.end('SIGTERM');
    const lines = gateway.output().split('\n');
    return [
      noneOf('other requests that were not answered', others.count, others.failures),
      noneOf('requests with a key, a complete head and not one record', left.recorded.length, mistakes),
      noneOf('requests without a key that are not counted', left.counted, await uncounted(fixture, left.counted)),
      noneOf(
        'stack traces in the log',
        lines.length,
        lines.filter((line) => line.startsWith('    at ')),
      ),
    ];
  },
};

/** @returns the user agents of the requests that must have a record, and how many are only counted */
async function leaveEverywhere(url: string, key: string, count: number) {
  const { port } = new URL(url);
  const agents = await inParallel(count, 20, async (index) => {
    const { route, moment, way } = departureAt(index);
    const agent = `${index}: ${way} ${moment} of ${route.line}`;
    await depart(Number(port), key, index, agent);
    return sendsHead(moment) ? [{ route, agent }] : [];
  });
  const complete = agents.flat();
  return {
    recorded: complete.filter(({ route }) => route.hasKey === true).map(({ agent }) => agent),
    counted: complete.filter(({ route }) => route.isCounted === true).length,
  };
}

const departureAt = (index: number) => departures[index % departures.length] as (typeof departures)[number];

/** A client that breaks off, on one of the routes, at one of the moments and in one of the ways. */
export async function depart(port: number, key: string, index: number, agent: string): Promise<void> {
  const { route, play, leave } = departureAt(index);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await Promise.race([once(socket, 'connect'), closed]);
  await play(socket, headOf(route, agent, key), bodyOf(route));
  leave(socket.resume());
  await closed;
}

function bodyOf({ body = '' }: Route): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function headOf(route: Route, agent: string, key: string): string {
  const { line, hasKey, body } = route;
  const type = typeof body === 'object' ? 'application/json' : 'application/x-www-form-urlencoded';
  const authorization = hasKey === true ? `Authorization: Bearer ${key}\r\n` : '';
  const content = body === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${bodyOf(route).length}\r\n`;
  return `${line} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ${agent}\r\n${authorization}${content}\r\n`;
}

/** Requests of another client until the work is done. */
async function askMeanwhile(client: Client, work: Promise<unknown>): Promise<{ count: number; failures: string[] }> {
  const done = new AbortController();
  void work.finally(() => done.abort());
  const failures: string[] = [];
  let count = 0;
  while (!done.signal.aborted) {
    const observed = await client.ask({ format: 'chat', model: 'fine', isStream: ++count % 2 === 0 });
    if (observed.ending !== 'complete') failures.push(describeObservation(observed));
  }
  return { count, failures };
}

async function unrecorded({ home }: ChaosFixture, agents: readonly string[]): Promise<string[]> {
  const counts = await countRecords(home.database, agents);
  return agents
    .filter((agent) => counts.get(agent) !== 1)
    .map((agent) => `${counts.get(agent) ?? 0} records of ${agent}`);
}

async function uncounted({ home }: ChaosFixture, expected: number): Promise<string[]> {
  const [row] = await home.database.query<{ requests: number }>(
    'SELECT coalesce(sum(requests), 0)::int AS requests FROM unauthenticated_minute',
  );
  return row?.requests === expected ? [] : [`${row?.requests} are counted, ${expected} were sent`];
}
