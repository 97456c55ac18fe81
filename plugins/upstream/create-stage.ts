import { sendsSignal, telemetrySection } from '#core/config/sections/telemetry-section.ts';
import { adapter, trialModel } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { getDemotedRoutes } from '#core/gateway/model-call/demoted-routes.ts';
import { notesHeaderName } from '#core/gateway/model-call/notes-header.ts';
import { getLimitSamples } from '#core/gateway/model-call/reported-limits.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import type { Infer } from '#core/platform/schema.ts';
import { Connections } from './connections/connections.ts';
import {
  toBreakerOptions,
  hasCapacity,
  computeMaxRequestSeconds,
  toRelayOptions,
  type upstreamSchema,
} from './options.ts';
import { getRouteHealth, getKeyPool, resetKeys, getTokenSource } from './routes.ts';
import { RetryBudget } from './routing/allowance.ts';
import { sendHeadersEarly } from './routing/deferred-reply.ts';
import { FailureLog } from './routing/failure-log.ts';
import type { RelayParts } from './routing/relay-parts.ts';
import { Relay } from './routing/relay.ts';
import { createQueueHeaderName, RouteHeaders } from './routing/route-headers.ts';
import { SessionMoves } from './routing/session-moves.ts';
import { SessionSecret } from './routing/session-secret.ts';
import { CallSessions } from './routing/sessions.ts';
import { createTrialParts } from './routing/trial-parts.ts';

/** Commands do not load this module, because they serve no requests. */
export async function createUpstreamStage(options: Infer<typeof upstreamSchema>, host: Host): Promise<Stage> {
  const health = getRouteHealth(host);
  const telemetry = host.section(telemetrySection);
  // A variant has its own budget, so that it cannot use up the shared one if it fails.
  const createBudget = () => new RetryBudget(options.retry_share);
  const retryBudget = host.variant === undefined ? host.keep('upstream/retry-budget', createBudget) : createBudget();
  // Loaded only if an upstream declares a capacity. Without one, requests need no slots.
  const queue = hasCapacity(host.catalog)
    ? (await import('./capacity/slot-request.ts')).createQueueParts(
        host,
        options.queue,
        createQueueHeaderName(host.service),
      )
    : undefined;
  const secret = host.keep('upstream/session-secret', () => new SessionSecret(host));
  await secret.waitUntilRead();
  const createSessions = () =>
    new CallSessions({
      secret: () => secret.value,
      monotonic: () => host.monotonic(),
      moves: host.keep('upstream/session-moves', () => new SessionMoves(host)),
    });
  const parts: RelayParts = {
    options: toRelayOptions(options),
    connections: host.keep('upstream/connections', () => new Connections({ log: host.log })),
    health,
    demoted: getDemotedRoutes(host),
    retryBudget,
    getKeyPool: ({ upstream }) => getKeyPool(upstream, host),
    getTokenSource: ({ upstream }) => getTokenSource(upstream, host),
    log: host.log,
    limitSamples: getLimitSamples(host),
    failureLog: host.keep('upstream/failure-log', () => new FailureLog(() => host.monotonic())),
    routeHeaders: new RouteHeaders(host.service, options.route_headers),
    sessions: host.keep('upstream/sessions', createSessions),
    notesHeader: notesHeaderName(host.service),
    traceSample: sendsSignal(telemetry, 'traces') ? telemetry.sample : 0,
    queue,
    now: () => host.now(),
    monotonic: () => host.monotonic(),
  };
  return {
    timeout: computeMaxRequestSeconds(options, host.catalog),
    activate() {
      queue?.pools.configure(host.catalog, options.queue);
      Object.assign(health.options, toBreakerOptions(options));
      health.addRoutes(host.catalog.models.flatMap(({ routes }) => routes));
      health.onReset = (id) => resetKeys(id, host);
      retryBudget.retriesPerRequest = options.retry_share;
    },
    enter(exchange) {
      const { isStream } = exchange.find(adapter) ?? {};
      if (isStream === undefined) return;
      const relay = new Relay(exchange.find(trialModel) === undefined ? parts : createTrialParts(parts), exchange);
      return () =>
        isStream
          ? sendHeadersEarly(relay.run(), options.keep_alive_after, exchange, () => relay.queueHeaders)
          : relay.run();
    },
  };
}
