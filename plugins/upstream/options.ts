import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { CheckContext, Report, SectionValues, YamlPath } from '#core/config/section.ts';
import { models } from '#core/config/sections/models-section.ts';
import { boolean, integer, number, object, type Infer } from '#core/platform/schema.ts';
import { type BreakerOptions, defaultBreakerOptions } from './health/breaker.ts';
import type { RelayOptions } from './routing/relay-parts.ts';
import { routeExposures } from './routing/route-headers.ts';

const seconds = number({ minimum: 0.1, maximum: 3600 });

const breakerSchema = object({ default: {} }, 'When a route is taken out of service, and for how long.', {
  failures: integer(
    { minimum: 1, maximum: 1000, default: defaultBreakerOptions.failures },
    'Consecutive failures that open the breaker.',
  ),
  failure_ratio: number(
    { minimum: 0.01, maximum: 1, default: defaultBreakerOptions.failureRatio },
    'Share of failed calls in the window that opens the breaker, from 0 to 1.',
  ),
  minimum_calls: integer(
    { minimum: 1, maximum: 100_000, default: defaultBreakerOptions.minimumCalls },
    'Minimum calls in the window before the share applies.',
  ),
  window: number(
    { minimum: 1, maximum: 3600, default: defaultBreakerOptions.window / 1000 },
    'Length of the window in seconds.',
  ),
  cooldown: number(
    { ...seconds, default: defaultBreakerOptions.cooldown / 1000 },
    'Seconds until an open breaker allows a probe; doubled each time the probe fails.',
  ),
  longest_cooldown: number(
    { minimum: 0.1, maximum: 86_400, default: defaultBreakerOptions.maxCooldown / 1000 },
    'Maximum cooldown in seconds.',
  ),
});

export const upstreamSchema = object({
  max_attempts: integer(
    { minimum: 1, maximum: 10, default: 3 },
    'Maximum attempts per request, over all routes and keys of its model.',
  ),
  connect_timeout: number({ minimum: 0.1, maximum: 60, default: 5 }, 'Seconds to open a connection.'),
  first_byte_timeout: number(
    { ...seconds, default: 60 },
    'Seconds until an upstream begins to respond. For a stream, also the seconds without a byte before its first content.',
  ),
  idle_timeout: number(
    { ...seconds, default: 120 },
    'Seconds without a byte after which a response that has begun is aborted.',
  ),
  progress_timeout: number(
    { ...seconds, default: 300 },
    'Seconds without content after which a stream that only sends pings is aborted.',
  ),
  deadline: number(
    { minimum: 1, maximum: 3600, default: 180 },
    'Seconds for all attempts together, until a non-streaming response is complete or a stream has its first content. While another healthy route remains, an attempt leaves it that route’s first_byte_timeout, but at most half of the remaining time.',
  ),
  keep_alive_after: number(
    { ...seconds, default: 20 },
    'Seconds without content after which the client of a stream gets its headers, so that clients and proxies do not time out. Later errors arrive inside the stream.',
  ),
  retry_share: number(
    { minimum: 0, maximum: 1, default: 0.1 },
    'Retry budget: how many additional attempts are allowed, as a share of all requests.',
  ),
  queue: object(
    { default: {} },
    'How requests wait for a free slot of an upstream with a `capacity`. Upstreams without one have no queue.',
    {
      wait: number(
        { minimum: 0, maximum: 3600, default: 15 },
        'Maximum seconds that a request waits; then it gets 429 with the expected Retry-After. The wait does not count toward `deadline`.',
      ),
      per_account: integer(
        { minimum: 1, maximum: 10_000, default: 50 },
        'Maximum number of an account’s requests that wait for an upstream; any more get 429 at once.',
      ),
      total: integer({ minimum: 1, maximum: 100_000, default: 2_000 }, 'The same maximum for all accounts together.'),
      prefer_backup: boolean(
        { default: false },
        'True: a backup with a free slot serves at once. False: requests wait for the routes with the first one’s priority, and a backup with a free slot serves after the wait.',
      ),
    },
  ),
  breaker: breakerSchema,
  route_headers: {
    enum: routeExposures,
    default: 'hidden',
    description:
      'How the response headers `x-daypass-route` and `x-daypass-attempts` identify routes: by name, by number in the model’s list (from 1), or not at all.',
  },
});

type UpstreamSettings = Infer<typeof upstreamSchema>;

export function toRelayOptions(settings: UpstreamSettings): RelayOptions {
  return {
    maxAttempts: settings.max_attempts,
    connectTimeout: settings.connect_timeout,
    firstByteTimeout: settings.first_byte_timeout,
    idleTimeout: settings.idle_timeout,
    progressTimeout: settings.progress_timeout,
    deadline: settings.deadline,
  };
}

export function toBreakerOptions({ breaker }: UpstreamSettings): BreakerOptions {
  return {
    failures: breaker.failures,
    failureRatio: breaker.failure_ratio,
    minimumCalls: breaker.minimum_calls,
    window: breaker.window * 1000,
    cooldown: breaker.cooldown * 1000,
    maxCooldown: breaker.longest_cooldown * 1000,
  };
}

/** Returns the most seconds that a request can take with these options, including the time to report why it failed. */
export function computeMaxRequestSeconds(
  { deadline, idle_timeout: idle, progress_timeout: progress, queue }: UpstreamSettings,
  catalog: Catalog,
): number {
  const routeIdleTimeouts = catalog.models.flatMap(({ routes }) => routes.map((route) => route.idleTimeout ?? 0));
  const wait = hasCapacity(catalog) ? queue.wait : 0;
  return Math.max(deadline + wait, idle, progress, ...routeIdleTimeouts) + 30;
}

export function hasCapacity({ upstreams }: Catalog): boolean {
  return upstreams.some(({ capacity }) => capacity !== undefined);
}

const timeoutsWithinDeadline = ['connect_timeout', 'first_byte_timeout'] as const;

/**
 * Reports timeouts that can never apply because the deadline of all attempts ends first, so that no other route would be tried.
 * `idle_timeout` may be longer, because the deadline does not apply to the rest of a stream.
 */
export function checkTimeouts(
  settings: UpstreamSettings,
  path: YamlPath,
  report: Report,
  sections: Pick<CheckContext, 'get'>,
): void {
  const { deadline, breaker } = settings;
  const reportIfTooLong = (valuePath: YamlPath, value: number | undefined) => {
    if (value === undefined || value <= deadline) return;
    const wrong = `is ${value} s, longer than the deadline of ${deadline} s for all attempts together`;
    report(valuePath, wrong, 'shorten it, or raise the `deadline` of the `upstream` stage');
  };
  for (const name of timeoutsWithinDeadline) reportIfTooLong([...path, name], settings[name]);
  for (const [model, { routes, hedge_after }] of Object.entries(sections.get(models) ?? {})) {
    reportIfTooLong(['models', model, 'hedge_after'], hedge_after);
    for (const [index, route] of routes.entries()) {
      if (typeof route === 'string') continue;
      for (const name of timeoutsWithinDeadline) reportIfTooLong(['models', model, 'routes', index, name], route[name]);
    }
  }
  if (breaker.cooldown > breaker.longest_cooldown) {
    const wrong = `is ${breaker.cooldown} s, longer than longest_cooldown (${breaker.longest_cooldown} s)`;
    report([...path, 'breaker', 'cooldown'], wrong, 'shorten it, or raise longest_cooldown');
  }
}

/** Describes limits that have no effect because other limits apply first. */
export function describeIneffectiveLimits(settings: UpstreamSettings, sections: SectionValues): string[] {
  const { queue, idle_timeout: idle, progress_timeout: progress, first_byte_timeout: firstByte } = settings;
  return [
    ...(queue.per_account > queue.total
      ? [
          `upstream: queue.per_account is ${queue.per_account}, but queue.total allows only ${queue.total} waiting requests for all accounts together`,
        ]
      : []),
    ...(progress < idle
      ? [`upstream: progress_timeout is ${progress} s, so a stream never reaches the idle_timeout of ${idle} s`]
      : []),
    ...Object.entries(sections.get(models)).flatMap(([model, { hedge_after: after, routes }]) => {
      const [first] = routes;
      const limit = (typeof first === 'object' ? first.first_byte_timeout : undefined) ?? firstByte;
      return after === undefined || after < limit
        ? []
        : [`models.${model}.hedge_after is ${after} s, but its first route must begin to respond within ${limit} s`];
    }),
  ];
}
