import { noteFailure } from '../background.ts';
import type { Logger } from '../logger.ts';
import { Backoff } from '../timing/backoff.ts';
import { wait } from '../timing/wait.ts';

interface RestartableServer {
  isAlive(): Promise<boolean>;
  revive(signal: AbortSignal): Promise<void>;
}

/** Ms: between checks, between attempts to start, and of uptime until a server counts as recovered. */
const timing = { look: 1_000, retries: { first: 200, longest: 30_000 }, recovered: 60_000 };

/**
 * Restarts the embedded server when it dies while the gateway runs, for example by the OOM killer or on a full disk. Restarts back
 * off while the server keeps dying.
 */
export class ServerRestarter implements AsyncDisposable {
  readonly #server: RestartableServer;
  readonly #log: Logger;
  readonly #lookInterval: number;
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;

  /** @param lookInterval ms */
  constructor(server: RestartableServer, log: Logger, lookInterval = timing.look) {
    this.#server = server;
    this.#log = log;
    this.#lookInterval = lookInterval;
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
      await wait(this.#lookInterval, signal);
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

  /** A server that cannot be checked, for lack of file descriptors for example, is not started twice. */
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
