import { Counter, Histogram, type Registry } from 'prom-client';
import { delivery } from '#core/facts.ts';
import type { Gauge } from '#core/gauge.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Observer, Outcome } from '#core/pipeline/stage.ts';
import { prefix } from './prefix.ts';

/** Seconds; answers of models take from tenths of a second to minutes, refusals and cached ones milliseconds. */
const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/**
 * Counts exchanges and their attempts when they are over. Labels are names of endpoints and routes, and words of ours:
 * nothing that a client sends makes a new series.
 */
export class RequestMeters implements Observer {
  readonly name = 'metrics';
  readonly #requests: Counter<'endpoint' | 'outcome' | 'status'>;
  readonly #attempts: Counter<'route' | 'outcome' | 'fault'>;
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
    for (const { route, outcome, fault = 'none' } of exchange.find(delivery)?.attempts ?? []) {
      this.#attempts.inc({ route, outcome, fault });
    }
  }
}
