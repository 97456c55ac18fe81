import type { Registry } from 'prom-client';
import { adapter, cachedCall, cacheStatus, delivery, slotWaited, type Usage } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Observer, Outcome } from '#core/gateway/pipeline/stage.ts';
import { bounds } from '#core/platform/bounds.ts';
import { CountMeter, DistributionMeter } from './meters.ts';
import { calculateOverhead } from './overhead.ts';

/** Does not depend on the service's name, because alerts and dashboards rely on it. */
export const metricPrefix = 'daypass_';

/** Model replies take between tenths of a second and minutes; rejections and cache hits take milliseconds. */
const durationBoundsSeconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** The gateway's overhead is about a millisecond on an idle machine. */
const overheadBoundsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** Input includes cached tokens, output includes reasoning tokens. */
const tokenKinds = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  reasoning: 'reasoning',
} as const satisfies Partial<Record<keyof Usage, string>>;
type CountedUsage = keyof typeof tokenKinds;

/**
 * Counts exchanges and their attempts when they end. Labels are only names of endpoints, models and routes, and fixed words, so client
 * input never creates a series.
 */
export class RequestMeters implements Observer {
  readonly name = 'metrics';
  readonly #requests: CountMeter<['endpoint', 'model', 'outcome', 'status']>;
  readonly #attempts: CountMeter<['route', 'outcome', 'fault']>;
  readonly #tokens: CountMeter<['model', 'kind']>;
  readonly #cached: CountMeter<['result']>;
  readonly #duration: DistributionMeter<['endpoint']>;
  readonly #firstByte: DistributionMeter<['endpoint']>;
  readonly #overhead: DistributionMeter<['endpoint']>;
  readonly #queue: DistributionMeter<['model', 'outcome']>;

  constructor(registry: Registry) {
    this.#requests = new CountMeter({
      name: `${metricPrefix}requests_total`,
      help: 'Finished requests by model (none: refused before it was known, or no model call) and outcome: answered, refused, failed, aborted. The status is `none` when no status was sent.',
      labels: ['endpoint', 'model', 'outcome', 'status'],
      registry,
    });
    this.#attempts = new CountMeter({
      name: `${metricPrefix}attempts_total`,
      help: 'Attempts by outcome (served, failed, aborted) and fault (client, overflow, key, throttled, route, no_model, unsupported, setup, memory, local, gone, none).',
      labels: ['route', 'outcome', 'fault'],
      registry,
    });
    this.#tokens = new CountMeter({
      name: `${metricPrefix}tokens_total`,
      help: 'Tokens by model, reported or estimated: input (includes cache_read and cache_write), output (includes reasoning).',
      labels: ['model', 'kind'],
      registry,
    });
    this.#cached = new CountMeter({
      name: `${metricPrefix}cache_requests_total`,
      help: 'Requests with the header X-Service-Cache, by result: hit, miss.',
      labels: ['result'],
      registry,
    });
    this.#duration = new DistributionMeter({
      name: `${metricPrefix}request_duration_seconds`,
      help: 'Time from the request to the end of its reply.',
      labels: ['endpoint'],
      bounds: durationBoundsSeconds,
      registry,
    });
    this.#firstByte = new DistributionMeter({
      name: `${metricPrefix}first_byte_seconds`,
      help: 'Time from the request to the first byte of the reply body.',
      labels: ['endpoint'],
      bounds: durationBoundsSeconds,
      registry,
    });
    this.#overhead = new DistributionMeter({
      name: `${metricPrefix}overhead_seconds`,
      help: 'Time that the gateway itself took until the first byte of the reply, without waiting for upstreams or for the body of the request.',
      labels: ['endpoint'],
      bounds: overheadBoundsSeconds,
      registry,
    });
    this.#queue = new DistributionMeter({
      name: `${metricPrefix}queue_seconds`,
      help: 'Time that requests waited for a free slot of an upstream with a declared capacity, by outcome. Requests that did not wait are not counted.',
      labels: ['model', 'outcome'],
      bounds: durationBoundsSeconds,
      registry,
    });
  }

  done(exchange: Exchange, { kind, status, duration, firstByteAfter }: Outcome): void {
    const endpoint = exchange.endpoint.name;
    const model = (exchange.find(adapter) ?? exchange.find(cachedCall))?.model.id;
    this.#requests.add(1, endpoint, model ?? 'none', kind, status ?? 'none');
    this.#duration.observe(duration / 1000, endpoint);
    const deliveryRecord = exchange.find(delivery);
    if (firstByteAfter !== undefined) {
      this.#firstByte.observe(firstByteAfter / 1000, endpoint);
      const overhead = calculateOverhead({
        firstByteAfter,
        delivery: deliveryRecord,
        bodyWaited: exchange.body.waited,
        slotWaited: exchange.find(slotWaited),
      });
      if (overhead !== undefined) this.#overhead.observe(overhead / 1000, endpoint);
    }
    if (deliveryRecord?.queuedFor !== undefined)
      this.#queue.observe(deliveryRecord.queuedFor / 1000, model ?? 'none', kind);
    const result = exchange.find(cacheStatus);
    if (result !== undefined) this.#cached.add(1, result);
    for (const { route, outcome, fault = 'none' } of deliveryRecord?.attempts ?? []) {
      this.#attempts.add(1, route, outcome, fault);
    }
    if (deliveryRecord?.usage !== undefined && model !== undefined) this.#countTokens(model, deliveryRecord.usage);
  }

  #countTokens(model: string, usage: Usage): void {
    for (const kind in tokenKinds) {
      const tokens = usage[kind as CountedUsage] ?? -1;
      if (tokens >= 0 && tokens <= bounds.tokens) this.#tokens.add(tokens, model, tokenKinds[kind as CountedUsage]);
    }
  }
}
