import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { cachedInputGauge, writtenInputGauge } from './gauges.ts';
import { fallenCacheProblem } from './problem.ts';
import { cachedInputReading } from './reading.ts';

/** Monitors vendors' prompt caching: metrics, a resource in the operator's API, and an alert if the share of cached input falls. */
export const plugin: GatewayPlugin = {
  name: 'cached-input',
  register({ gateway }) {
    gateway.problem(fallenCacheProblem);
    gateway.gauge(cachedInputGauge);
    gateway.gauge(writtenInputGauge);
    gateway.operatorReading(cachedInputReading);
  },
};
