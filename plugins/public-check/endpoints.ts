import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { Host } from '#core/gateway/host/host.ts';
import type { Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
import { createReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { noteFailure } from '#core/platform/background.ts';
import { ClientGone, GatewayError } from '#core/platform/errors/table.ts';
import { requirePass } from './passes.ts';
import { type Arrival, type Departure, echoEndpoint, maxWaitSeconds, publicPaths, testStream } from './paths.ts';

const maxWaitingCalls = 64; // over all passes; one run of doctor needs five
const departureWaitSeconds = 60;
const departureMemorySeconds = 300;

type Respond = (exchange: Exchange, host: Host, pass: string) => Reply | Promise<Reply>;

export function createEndpoints(host: () => Host): Endpoint[] {
  const define = (path: string, respond: Respond, method: 'GET' | 'POST' = 'GET'): Endpoint => ({
    name: 'public_check',
    method,
    path,
    isMetered: false,
    isPublic: true,
    answer: async (exchange) => respond(exchange, host(), await requirePass(exchange, host())),
  });
  return [
    define(publicPaths.arrived, createArrivalReply),
    define(`${publicPaths.arrived}/{rest*}`, createArrivalReply),
    define(publicPaths.upgrade, createUpgradeReply),
    // WebSockets use the endpoint that would serve a POST.
    { ...define(publicPaths.upgrade, createUpgradeReply, 'POST'), name: echoEndpoint },
    define(
      publicPaths.body,
      async ({ body }) => createJsonReply({ bytes: (await (body.form?.() ?? body.bytes())).length }),
      'POST',
    ),
    define(publicPaths.stream, (exchange, current) => createStreamReply(exchange, current, sendTestEvents)),
    define(publicPaths.silence, (exchange, current) =>
      createStreamReply(exchange, current, createSilence(readSeconds(exchange))),
    ),
    define(publicPaths.wait, (exchange, current) => createDelayedReply(exchange, current, readSeconds(exchange))),
    define(publicPaths.leaveSilence, async (exchange, current, pass) => {
      await watchDeparture(exchange, current, pass);
      return createStreamReply(exchange, current, createSilence(departureWaitSeconds));
    }),
    define(publicPaths.leaveWait, async (exchange, current, pass) => {
      await watchDeparture(exchange, current, pass);
      return createDelayedReply(exchange, current, departureWaitSeconds);
    }),
    define(publicPaths.left, readDeparture),
  ];
}

function createJsonReply(value: object): Reply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

function createArrivalReply({ path, remoteAddress = '', headers }: Exchange): Reply {
  const safeHeaders = Object.entries(headers).filter(([name]) => name !== 'authorization' && name !== 'cookie');
  const arrival: Arrival = {
    path,
    address: remoteAddress,
    headers: Object.fromEntries(safeHeaders.map(([name, value]) => [name, String(value)])),
  };
  return createJsonReply(arrival);
}

function createUpgradeReply(exchange: Exchange): Reply {
  return { ...createArrivalReply(exchange), status: 426 };
}

function readSeconds({ query }: Exchange): number {
  const seconds = Number(query.get('seconds'));
  if (seconds > 0 && seconds <= maxWaitSeconds) return seconds;
  throw new GatewayError('invalid_request', `\`seconds\` must be a number up to ${maxWaitSeconds}.`);
}

type Events = (signal: AbortSignal) => AsyncGenerator<string>;

async function* sendTestEvents(signal: AbortSignal): AsyncGenerator<string> {
  const startedAt = performance.now();
  for (let index = 0; index < testStream.events; index++) {
    yield `data: {"ms":${Math.round(performance.now() - startedAt)}}\n\n`;
    await setTimeout(testStream.interval, undefined, { signal });
  }
  yield 'data: [DONE]\n\n';
}

const createSilence = (seconds: number): Events =>
  async function* (signal) {
    await setTimeout(seconds * 1000, undefined, { signal });
    yield 'data: [DONE]\n\n';
  };

/** Includes keep-alives, as a model's reply does. */
function createStreamReply(exchange: Exchange, host: Host, events: Events): Reply {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
  return { status: 200, headers, body: createWaitingBody(exchange, host, events), isAwaited: true };
}

/** Sends nothing until the time is over: the head goes out with the first bytes of the body. */
function createDelayedReply(exchange: Exchange, host: Host, seconds: number): Reply {
  const body = createWaitingBody(exchange, host, async function* (signal) {
    await setTimeout(seconds * 1000, undefined, { signal });
    yield JSON.stringify({ seconds });
  });
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

/** @throws GatewayError `rate_limited` if too many calls are waiting */
function createWaitingBody(exchange: Exchange, host: Host, events: Events): Readable {
  const waitingCalls = host.keep('public-check', () => new Set<Exchange>());
  if (waitingCalls.size >= maxWaitingCalls)
    throw new GatewayError('rate_limited', 'Too many public address checks are running.', { retryAfter: 10 });
  waitingCalls.add(exchange);
  const abandonment = new AbortController();
  const body = createReplyStream(events(abandonment.signal), () => abandonment.abort());
  body.once('close', () => waitingCalls.delete(exchange));
  exchange.bodyLayers.add(body, 'endpoint "public_check"', maxWaitSeconds + 60);
  return body;
}

async function watchDeparture(exchange: Exchange, { shared, log }: Host, pass: string): Promise<void> {
  const key = createDepartureKey(exchange, pass);
  const storeState = (state: Departure['state']) => shared.cache.set(key, Buffer.from(state), departureMemorySeconds);
  await storeState('waiting');
  exchange.onAbort((reason) => {
    if (!(reason instanceof ClientGone)) return;
    storeState('left').catch((error: unknown) => noteFailure(log, 'recording a client disconnect', error));
  });
}

async function readDeparture(exchange: Exchange, { shared }: Host, pass: string): Promise<Reply> {
  const entry = await shared.cache.get(createDepartureKey(exchange, pass));
  return createJsonReply({ state: (entry?.value.toString() ?? 'unknown') as Departure['state'] } satisfies Departure);
}

function createDepartureKey({ query }: Exchange, pass: string): string {
  const id = query.get('id') ?? '';
  if (!/^[\w-]{8,40}$/.test(id)) throw new GatewayError('invalid_request', '`id` must have 8 to 40 characters.');
  return `public-check:${pass}:${id}`;
}
