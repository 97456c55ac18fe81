import { Counter, Histogram, type Registry } from 'prom-client';
import { bounds } from '#core/bounds.ts';
import { adapter, cacheStatus, delivery, type Usage } from '#core/facts.ts';
import type { Gauge } from '#core/extension/gauge.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Observer, Outcome } from '#core/pipeline/stage.ts';
import { prefix } from './prefix.ts';

/** Seconds; answers of models take from tenths of a second to minutes, refusals and cached ones milliseconds. */
const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Kinds of tokens, as the series name them. Input has the cached ones in it, output those of the reasoning. */
const tokenKinds = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  reasoning: 'reasoning',
} as const satisfies Partial<Record<keyof Usage, string>>;
type CountedUsage = keyof typeof tokenKinds;

/**
 * Counts exchanges and their attempts when they are over. Labels are names of endpoints, models and routes, and words of ours:
 * nothing that a client sends makes a new series.
 */
export class RequestMeters implements Observer {
  readonly name = 'metrics';
  readonly #requests: Counter<'endpoint' | 'outcome' | 'status'>;
  readonly #attempts: Counter<'route' | 'outcome' | 'fault'>;
  readonly #tokens: Counter<'model' | 'kind'>;
  readonly #cached: Counter<'result'>;
  readonly #duration: Histogram<'endpoint'>;
  readonly #firstByte: Histogram<'endpoint'>;
  #running = 0;

  constructor(figures: Registry) {
    const registers = [figures];
    this.#requests = new Counter({
      name: `${prefix}requests_total`,
      help: 'Requests that are over, by how they ended: answered, refused, failed, aborted. Status is none where none was sent.',
      labelNames: ['endpoint', 'outcome', 'status'],
      registers,
    });
    this.#attempts = new Counter({
      name: `${prefix}attempts_total`,
      help: 'Tries on routes: served, failed, aborted, and whose fault it was: client, overflow, key, throttled, route, unfit, gone, none.',
      labelNames: ['route', 'outcome', 'fault'],
      registers,
    });
    this.#tokens = new Counter({
      name: `${prefix}tokens_total`,
      help: 'Tokens of answers by model, counted or guessed: input (cache_read and cache_write are part of it), output (reasoning is part of it).',
      labelNames: ['model', 'kind'],
      registers,
    });
    this.#cached = new Counter({
      name: `${prefix}cache_requests_total`,
      help: 'Requests that asked for a kept answer with X-Service-Cache: hit where there was one, else miss.',
      labelNames: ['result'],
      registers,
    });
    this.#duration = new Histogram({
      name: `${prefix}request_duration_seconds`,
      help: 'From the request until its answer was with the client.',
      labelNames: ['endpoint'],
      buckets: durations,
      registers,
    });
    this.#firstByte = new Histogram({
      name: `${prefix}first_byte_seconds`,
      help: "From the request until the first byte of the answer's body was sent.",
      labelNames: ['endpoint'],
      buckets: durations,
      registers,
    });
  }

  get runningGauge(): Gauge {
    return {
      name: 'requests_running',
      description: 'Requests under way.',
      read: () => [{ value: this.#running }],
    };
  }

  start(): void {
    this.#running++;
  }

  done(exchange: Exchange, { kind, status, duration, firstByteAfter }: Outcome): void {
    this.#running--;
    const endpoint = exchange.endpoint.name;
    this.#requests.inc({ endpoint, outcome: kind, status: status ?? 'none' });
    this.#duration.observe({ endpoint }, duration / 1000);
    if (firstByteAfter !== undefined) this.#firstByte.observe({ endpoint }, firstByteAfter / 1000);
    const result = exchange.find(cacheStatus);
    if (result !== undefined) this.#cached.inc({ result });
    const delivered = exchange.find(delivery);
    for (const { route, outcome, fault = 'none' } of delivered?.attempts ?? []) {
      this.#attempts.inc({ route, outcome, fault });
    }
    this.#countTokens(exchange, delivered?.usage);
  }

  #countTokens(exchange: Exchange, usage: Usage | undefined): void {
    const model = exchange.find(adapter)?.model.id;
    if (usage === undefined || model === undefined) return;
    for (const kind in tokenKinds) {
      const tokens = usage[kind as CountedUsage] ?? -1;
      if (tokens >= 0 && tokens <= bounds.tokens)
        this.#tokens.inc({ model, kind: tokenKinds[kind as CountedUsage] }, tokens);
    }
  }
}
