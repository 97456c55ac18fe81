import { beforeEach, onTestFinished } from 'vitest';
import type { Model, Route, Upstream } from '#core/config/catalog/catalog.ts';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { adapter, type Delivery, delivery, type Principal, principal } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { createLogger } from '#core/platform/logger.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { ClientRequest } from '../../../plugins/format/request/client-request.ts';
import { RequestContent } from '../../../plugins/format/request/request-content.ts';
import { ModelCall } from '../../../plugins/format/routes/model-call.ts';
import type { QueueParts } from '../../../plugins/upstream/capacity/slot-request.ts';
import { Connections, type ConnectionsOptions } from '../../../plugins/upstream/connections/connections.ts';
import type { RouteFailure } from '../../../plugins/upstream/health/evidence.ts';
import { type Requester, unknownRequester } from '../../../plugins/upstream/health/requester.ts';
import { RouteHealth } from '../../../plugins/upstream/health/route-health.ts';
import { RetryBudget } from '../../../plugins/upstream/routing/allowance.ts';
import { FailureLog } from '../../../plugins/upstream/routing/failure-log.ts';
import { KeyPool } from '../../../plugins/upstream/routing/key-pool.ts';
import type { RelayOptions } from '../../../plugins/upstream/routing/relay-parts.ts';
import { Relay } from '../../../plugins/upstream/routing/relay.ts';
import { type RouteExposure, RouteHeaders } from '../../../plugins/upstream/routing/route-headers.ts';
import { CallSessions } from '../../../plugins/upstream/routing/sessions.ts';
import { createExchange } from '../../support/exchange.ts';
import type { Handler } from '../../support/faulty-upstream.ts';
import { descriptors, type Format } from '../../support/formats.ts';

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
export const answer = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'test',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage,
};
const chunk = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'test' };
export const content = (text: string) => ({
  ...chunk,
  choices: [{ index: 0, delta: { role: 'assistant', content: text } }],
});
export const finish = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

/** Answers in full. */
export const serve: Handler = (_request, response) => response.json(200, answer);
/** Refuses with words that no client may see. */
export const refuse =
  (status: number, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.json(status, { error: { message: 'secret words of the vendor', type: 'odd' } }, headers);
/** Resets the connection. */
export const cut: Handler = (_request, response) => response.reset();

/** A failure that no request can cause. */
export function refused(reason: string): RouteFailure {
  return { reason, requester: unknownRequester, mayBeCausedByRequest: false };
}

/** The one conversation of an account. */
export function requesterNamed(name: string): Requester {
  return { account: name, conversation: name };
}

export function upstreamAt(baseUrl: string, settings: Partial<Upstream> = {}): Upstream {
  return {
    name: 'one',
    vendor: undefined,
    formats: ['chat'],
    baseUrl,
    auth: 'bearer',
    apiKeys: [],
    headers: {},
    isDemo: false,
    isEnabled: true,
    endUser: 'client',
    ...settings,
  };
}

export function routeTo(upstream: Upstream, settings: Partial<Route> = {}): Route {
  const route: Partial<Route> = {
    id: `${upstream.name}/model-there`,
    upstream,
    model: 'model-there',
    weight: 1,
    connectTimeout: undefined,
    firstByteTimeout: undefined,
    idleTimeout: undefined,
    profile: mergeProfiles(),
    ...settings,
  };
  return route as Route;
}

/** Routes to `u0`, `u1` and so on, at these addresses. */
export function routesTo(...places: readonly (string | { readonly url: string })[]): Route[] {
  return places.map((place, index) =>
    routeTo(upstreamAt(typeof place === 'string' ? place : place.url, { name: `u${index}` })),
  );
}

/** An exchange that `format` has prepared for these routes, tried in this order. */
export function exchangeFor(
  routes: readonly Route[],
  {
    isStream = false,
    format = 'chat' as Format,
    resume = false,
    hedgeAfter = Infinity,
    prompt = 'hi',
    history = [] as JsonObject[],
    account = undefined as string | undefined,
    members = {} as JsonObject,
    headers = {} as Record<string, string>,
    /** Of another format than Chat. */
    body: given = undefined as JsonObject | undefined,
  } = {},
): Exchange {
  const body = given ?? {
    model: 'test',
    messages: [{ role: 'user', content: prompt }, ...history],
    ...members,
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
  };
  const text = JSON.stringify(body);
  const exchange = createExchange({ body, headers });
  const model: Model = {
    id: 'test',
    publicName: 'dp/test',
    displayName: 'test',
    kind: 'chat',
    routes: routes.map((route, priority) => ({ ...route, priority: route.priority ?? priority })),
    resume,
    hedgeAfter,
    maxInputTokens: undefined,
    maxOutputTokens: undefined,
  };
  const said = { format: descriptors[format], purpose: 'answer', model: 'test', isStream } as const;
  const request = new ClientRequest(said, RequestContent.fromText(text, body));
  if (account !== undefined) exchange.set(principal, { accountId: account } as Principal);
  exchange.set(adapter, new ModelCall(exchange, model, request));
  return exchange;
}

/** A stream that breaks off in its text, once a client reads it: one that breaks off earlier fails over. */
export function breakingOff(text: string, { firstReply }: { readonly firstReply: Promise<unknown> }): Handler {
  return async (_request, response) => {
    response.sse();
    await response.event(content(text));
    await firstReply;
    response.cut();
  };
}

export interface RelayFixture {
  now: number; // epoch ms, while nobody sets the clock
  /** Ms by which the wall clock was set. */
  step: number;
  readonly keys: (route: Route) => KeyPool;
  readonly health: RouteHealth;
  readonly budget: RetryBudget;
  /** Undefined until a test gives one: sessions are those that clients name. */
  secret: string | undefined;
  readonly sessions: CallSessions;
  /** Ids of routes that are tried last. */
  readonly demoted: Set<string>;
  /** Waits until every request has been answered that was sent to an upstream, or given up. */
  settled(upstream: { readonly url: string }): Promise<void>;
  relay(exchange: Exchange): Promise<Reply>;
  /** Resolves with the first reply of a relay. */
  readonly firstReply: Promise<Reply>;
}

/**
 * What a relay needs beside the exchange: connections, keys, and a clock that the test sets. Its connections close when the
 * test is over.
 *
 * @param log where the lines of its log go
 * @param target becomes the fixture
 */
export function createRelayFixture(
  options: Partial<RelayOptions> = {},
  log: (line: string) => void = () => undefined,
  exposure: RouteExposure = 'hidden',
  { quarantineMs = 0 }: ConnectionsOptions = {},
  queue?: QueueParts,
  target: RelayFixture = {} as RelayFixture,
): RelayFixture {
  const connections = new Connections({ log: createLogger(log), quarantineMs });
  onTestFinished(() => connections[Symbol.asyncDispose]());
  const pools = new Map<Upstream, KeyPool>();
  const keys = ({ upstream }: Route) => {
    const pool = pools.get(upstream) ?? new KeyPool(upstream);
    pools.set(upstream, pool);
    return pool;
  };
  const health = new RouteHealth({
    instance: 'test',
    shared: new MemoryShared(),
    log: createLogger(log),
    now: () => fixture.now + fixture.step,
    monotonic: () => fixture.now,
  });
  const budget = new RetryBudget(0.1);
  const failures = new FailureLog(() => fixture.now);
  const first = Promise.withResolvers<Reply>();
  const fixture: RelayFixture = Object.assign(target, {
    firstReply: first.promise,
    health,
    budget,
    demoted: new Set<string>(),
    secret: undefined,
    sessions: new CallSessions({ secret: () => fixture.secret, monotonic: () => fixture.now }),
    settled: ({ url }: { readonly url: string }) => connections.getPool(url, options.connectTimeout ?? 1).close(),
    now: Date.parse('2026-01-01T00:00:00Z'),
    step: 0,
    keys,
    relay: async (exchange: Exchange) => {
      const reply = await new Relay(
        {
          options: {
            maxAttempts: 3,
            connectTimeout: 1,
            firstByteTimeout: 10,
            idleTimeout: 10,
            progressTimeout: 30,
            deadline: 60,
            ...options,
          },
          connections,
          health,
          retryBudget: budget,
          log: createLogger(log),
          failureLog: failures,
          routeHeaders: new RouteHeaders({ slug: 'daypass' }, exposure),
          notesHeader: 'x-daypass-notes',
          demoted: fixture.demoted,
          sessions: fixture.sessions,
          queue,
          getKeyPool: keys,
          now: () => fixture.now + fixture.step,
          monotonic: () => fixture.now,
        },
        exchange,
      ).run();
      first.resolve(reply);
      return reply;
    },
  });
  return fixture;
}

type RelayParameters = Parameters<typeof createRelayFixture>;

export interface UsedRelay extends RelayFixture {
  /** Gives the test another relay, with these options. */
  reopen(options?: Partial<RelayOptions>, log?: (line: string) => void): void;
}

/** Opens a relay for each test of the file. */
export function useRelay(...[options, log, exposure, connections]: RelayParameters): UsedRelay {
  const relay = {
    reopen: (other, otherLog) => void createRelayFixture(other, otherLog, undefined, undefined, undefined, relay),
  } as UsedRelay;
  beforeEach(() => void createRelayFixture(options, log, exposure, connections, undefined, relay));
  return relay;
}

/** The attempts as one line each: route, outcome, status. */
export function attemptsOf(exchange: Exchange): string[] {
  const { attempts }: Delivery = exchange.get(delivery);
  return attempts.map(({ route, outcome, status }) => [route, outcome, status ?? ''].join(' ').trim());
}

/** The GatewayError with which something ends. */
export async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof GatewayError) return thrown;
  throw new Error('it did not end with a GatewayError', { cause: thrown });
}

/** Everything that a reply's stream brings. */
export async function textOf({ body }: Reply): Promise<string> {
  if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) return body?.toString() ?? '';
  const chunks: Buffer[] = await body.toArray();
  return Buffer.concat(chunks).toString();
}
