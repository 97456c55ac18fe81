import { runInBackground } from '#core/platform/background.ts';
import type { Host } from '../host/host.ts';
import type { HealthChecks } from './health-check.ts';
import { type CheckedHealth, readHealth } from './read-health.ts';

const intervalMs = 5_000;

/** Logs each change of a health check, and reports it to the operator pages. */
export class HealthMonitor implements Disposable {
  readonly #registry: HealthChecks;
  readonly #host: () => Host;
  readonly #onChange: () => void;
  readonly #failing = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #isChecking = false;
  #isDisposed = false;

  constructor(registry: HealthChecks, host: () => Host, onChange: () => void) {
    this.#registry = registry;
    this.#host = host;
    this.#onChange = onChange;
    this.#timer = setInterval(
      () => runInBackground(host().log, 'the health checks', () => this.checkNow()),
      intervalMs,
    ).unref();
  }

  /** Runs all checks now, unless a run is in progress. Never rejects. */
  async checkNow(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      for (const health of await readHealth(this.#registry, this.#host())) {
        if (!this.#isDisposed && health.ok === this.#failing.has(health.name)) this.#recordChange(health);
      }
    } catch (error) {
      this.#host().log.error('the health checks could not be read', error);
    } finally {
      this.#isChecking = false;
    }
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearInterval(this.#timer);
  }

  #recordChange(health: CheckedHealth): void {
    const { log } = this.#host();
    if (health.ok) {
      this.#failing.delete(health.name);
      log.info(`health check "${health.name}" passes again`);
    } else {
      this.#failing.add(health.name);
      log.error(`health check "${health.name}" fails: ${health.reason}`);
    }
    this.#onChange();
  }
}
