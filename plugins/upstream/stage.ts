import { adapter, delivery } from '#core/gateway/facts.ts';
import { defineStage } from '#core/gateway/pipeline/stage.ts';
import { checkTimeouts, hasCapacity, upstreamSchema, describeIneffectiveLimits } from './options.ts';
import { describeQueueHeader, describeRouteHeaders } from './routing/route-headers.ts';

/**
 * Sends the request to the routes of its model until one serves it.
 *
 * @throws GatewayError `upstream_rejected`, `rate_limited`, `upstream_failed`, `upstream_timeout`, `unavailable`
 */
export const upstreamStage = defineStage({
  name: 'upstream',
  description: 'Sends the request to the routes of its model in order, until one serves it.',
  reads: [adapter],
  writes: [delivery],
  expectedFor: 'sending model calls to an upstream',
  options: upstreamSchema,
  shared: ['breaker', 'queue'],
  check: checkTimeouts,
  notices: describeIneffectiveLimits,
  documentation: ({ route_headers: exposure }, { service, catalog }) => ({
    headers: [
      ...describeRouteHeaders(service, exposure),
      ...(hasCapacity(catalog) ? [describeQueueHeader(service)] : []),
    ],
  }),
  create: async (options, host) => (await import('./create-stage.ts')).createUpstreamStage(options, host),
});
