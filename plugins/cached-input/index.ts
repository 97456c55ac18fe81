import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { cachedInputGauge, writtenInputGauge } from './gauges.ts';
import { fallenCacheProblem } from './problem.ts';
import { cachedInputReading } from './reading.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Monitors vendors' prompt caching with metrics, a resource of the operator's API, and an alert if the share of cached input falls. */
export const plugin: GatewayPlugin = {
  name: 'cached-input',
  register({ gateway }) {
    gateway.texts(defineTexts({ en, id }));
    gateway.problem(fallenCacheProblem);
    gateway.gauge(cachedInputGauge);
    gateway.gauge(writtenInputGauge);
    gateway.operatorReading(cachedInputReading);
  },
};
