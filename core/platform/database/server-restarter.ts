import { noteFailure } from '../background.ts';
import type { Logger } from '../logger.ts';
import { Backoff } from '../timing/backoff.ts';
import { wait } from '../timing/wait.ts';

interface RestartableServer {
  isAlive(): Promise<boolean>;
  revive(signal: AbortSignal): Promise<void>;
}

/** Ms between checks, between restarts, and of uptime until a server counts as recovered. */
const timing = { check: 1_000, retries: { min: 200, max: 30_000 }, recovered: 60_000 };

/**
 * Restarts the embedded server if it dies while the gateway runs, for example because of the OOM killer or a full disk. Backs off while the
 * server keeps dying.
 */
export class ServerRestarter implements AsyncDisposable {
  readonly #server: RestartableServer;
  readonly #log: Logger;
  readonly #checkInterval: number;
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;

  /** @param checkInterval ms */
  constructor(server: RestartableServer, log: Logger, checkInterval = timing.check) {
    this.#server = server;
    this.#log = log;
    this.#checkInterval = checkInterval;
    this.#watching = this.#watch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the gateway stops'));
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    const backoff = new Backoff(timing.retries);
    let aliveSince = performance.now();
    while (!signal.aborted) {
      await wait(this.#checkInterval, signal);
      if (signal.aborted) return;
      if (await this.#isAlive()) {
        if (performance.now() - aliveSince > timing.recovered) backoff.reset();
        continue;
      }
      this.#log.error('PostgreSQL has stopped unexpectedly; restarting it');
      while (!(await this.#revive(signal))) await backoff.wait(signal);
      aliveSince = performance.now();
      await backoff.wait(signal);
    }
  }

  /** A server that cannot be checked, for example for lack of file descriptors, counts as alive, so that it is not started twice. */
  async #isAlive(): Promise<boolean> {
    try {
      return await this.#server.isAlive();
    } catch (error) {
      noteFailure(this.#log, 'looking whether PostgreSQL runs', error);
      return true;
    }
  }

  async #revive(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return true;
    try {
      await this.#server.revive(signal);
      this.#log.info('PostgreSQL is running again');
      return true;
    } catch (error) {
      if (!signal.aborted) this.#log.error('PostgreSQL could not be restarted; retrying', error);
      return signal.aborted;
    }
  }
}
