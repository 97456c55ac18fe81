import { Counter, Histogram, type Registry } from 'prom-client';
import { bounds } from '#core/platform/bounds.ts';
import { adapter, cachedCall, cacheStatus, delivery, slotWaited, type Usage } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Observer, Outcome } from '#core/gateway/pipeline/stage.ts';
import { overheadOf } from './overhead.ts';

/** Prefix of every metric, for services of any name: alerts and dashboards rely on it. */
export const prefix = 'daypass_';

/** Buckets in seconds: model replies take tenths of a second to minutes, refusals and cache hits milliseconds. */
const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Buckets in seconds of what the gateway adds: a millisecond when idle. */
const overheads = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** Values of the label `kind`. Input includes cached tokens, output includes reasoning tokens. */
const tokenKinds = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  reasoning: 'reasoning',
} as const satisfies Partial<Record<keyof Usage, string>>;
type CountedUsage = keyof typeof tokenKinds;

/**
 * Counts exchanges and their attempts when they end. Labels hold names of endpoints, models and routes and fixed words
 * only: nothing that a client sends creates a series.
 */
export class RequestMeters implements Observer {
  readonly name = 'metrics';
  readonly #requests: Counter<'endpoint' | 'model' | 'outcome' | 'status'>;
  readonly #attempts: Counter<'route' | 'outcome' | 'fault'>;
  readonly #tokens: Counter<'model' | 'kind'>;
  readonly #cached: Counter<'result'>;
  readonly #duration: Histogram<'endpoint'>;
  readonly #firstByte: Histogram<'endpoint'>;
  readonly #overhead: Histogram<'endpoint'>;
  readonly #queue: Histogram<'model' | 'outcome'>;
  #running = 0;

  constructor(metrics: Registry) {
    const registers = [metrics];
    this.#requests = new Counter({
      name: `${prefix}requests_total`,
      help: 'Finished requests by model (none: refused before it was known, or no model call) and outcome: answered, refused, failed, aborted. The status is `none` when no status was sent.',
      labelNames: ['endpoint', 'model', 'outcome', 'status'],
      registers,
    });
    this.#attempts = new Counter({
      name: `${prefix}attempts_total`,
      help: 'Attempts by outcome (served, failed, aborted) and fault (client, overflow, key, throttled, route, no_model, unsupported, setup, memory, local, gone, none).',
      labelNames: ['route', 'outcome', 'fault'],
      registers,
    });
    this.#tokens = new Counter({
      name: `${prefix}tokens_total`,
      help: 'Tokens by model, reported or estimated: input (includes cache_read and cache_write), output (includes reasoning).',
      labelNames: ['model', 'kind'],
      registers,
    });
    this.#cached = new Counter({
      name: `${prefix}cache_requests_total`,
      help: 'Requests with the header X-Service-Cache, by result: hit, miss.',
      labelNames: ['result'],
      registers,
    });
    this.#duration = new Histogram({
      name: `${prefix}request_duration_seconds`,
      help: 'Time from the request to the end of its reply.',
      labelNames: ['endpoint'],
      buckets: durations,
      registers,
    });
    this.#firstByte = new Histogram({
      name: `${prefix}first_byte_seconds`,
      help: 'Time from the request to the first byte of the reply body.',
      labelNames: ['endpoint'],
      buckets: durations,
      registers,
    });
    this.#overhead = new Histogram({
      name: `${prefix}overhead_seconds`,
      help: 'Time until the first byte of the reply that the gateway took itself, without waiting for upstreams and for the body of the request.',
      labelNames: ['endpoint'],
      buckets: overheads,
      registers,
    });
    this.#queue = new Histogram({
      name: `${prefix}queue_seconds`,
      help: 'Time that requests waited for a free slot of an upstream with a declared capacity, by outcome; those that did not wait are not counted.',
      labelNames: ['model', 'outcome'],
      buckets: durations,
      registers,
    });
  }

  /** Requests in flight. */
  get running(): number {
    return this.#running;
  }

  start(): void {
    this.#running++;
  }

  done(exchange: Exchange, { kind, status, duration, firstByteAfter }: Outcome): void {
    this.#running--;
    const endpoint = exchange.endpoint.name;
    const model = (exchange.find(adapter) ?? exchange.find(cachedCall))?.model.id;
    this.#requests.inc({ endpoint, model: model ?? 'none', outcome: kind, status: status ?? 'none' });
    this.#duration.observe({ endpoint }, duration / 1000);
    const delivered = exchange.find(delivery);
    if (firstByteAfter !== undefined) {
      this.#firstByte.observe({ endpoint }, firstByteAfter / 1000);
      const overhead = overheadOf({
        firstByteAfter,
        delivery: delivered,
        bodyWait: exchange.body.waited,
        slotWaited: exchange.find(slotWaited),
      });
      if (overhead !== undefined) this.#overhead.observe({ endpoint }, overhead / 1000);
    }
    if (delivered?.queuedFor !== undefined)
      this.#queue.observe({ model: model ?? 'none', outcome: kind }, delivered.queuedFor / 1000);
    const result = exchange.find(cacheStatus);
    if (result !== undefined) this.#cached.inc({ result });
    for (const { route, outcome, fault = 'none' } of delivered?.attempts ?? []) {
      this.#attempts.inc({ route, outcome, fault });
    }
    if (delivered?.usage !== undefined && model !== undefined) this.#countTokens(model, delivered.usage);
  }

  #countTokens(model: string, usage: Usage): void {
    for (const kind in tokenKinds) {
      const tokens = usage[kind as CountedUsage] ?? -1;
      if (tokens >= 0 && tokens <= bounds.tokens)
        this.#tokens.inc({ model, kind: tokenKinds[kind as CountedUsage] }, tokens);
    }
  }
}
