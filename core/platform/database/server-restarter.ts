import { noteFailure } from '../background.ts';
import type { Logger } from '../logger.ts';
import { Backoff } from '../timing/backoff.ts';
import { wait } from '../timing/wait.ts';

interface RestartableServer {
  isAlive(): Promise<boolean>;
  restart(signal: AbortSignal): Promise<void>;
}

const checkIntervalMs = 1_000;
const restartDelay = { min: 200, max: 30_000 };
const recoveredAfterMs = 60_000;

/**
 * Restarts the embedded server if it dies while the gateway runs, for example because of the OOM killer or a full disk. Waits longer each
 * time while the server keeps dying.
 */
export class ServerRestarter implements AsyncDisposable {
  readonly #server: RestartableServer;
  readonly #log: Logger;
  readonly #checkIntervalMs: number;
  readonly #closing = new AbortController();
  readonly #watchLoop: Promise<void>;

  constructor(server: RestartableServer, log: Logger, intervalMs = checkIntervalMs) {
    this.#server = server;
    this.#log = log;
    this.#checkIntervalMs = intervalMs;
    this.#watchLoop = this.#watch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the gateway stops'));
    await this.#watchLoop;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    const backoff = new Backoff(restartDelay);
    let aliveSince = performance.now();
    while (!signal.aborted) {
      await wait(this.#checkIntervalMs, signal);
      if (signal.aborted) return;
      if (await this.#isAlive()) {
        if (performance.now() - aliveSince > recoveredAfterMs) backoff.reset();
        continue;
      }
      this.#log.error('PostgreSQL has stopped unexpectedly; restarting it');
      while (!(await this.#restart(signal))) await backoff.wait(signal);
      aliveSince = performance.now();
      await backoff.wait(signal);
    }
  }

  /** Also returns true if the check fails, for example for lack of file descriptors, so that the server is not started twice. */
  async #isAlive(): Promise<boolean> {
    try {
      return await this.#server.isAlive();
    } catch (error) {
      noteFailure(this.#log, 'checking whether PostgreSQL runs', error);
      return true;
    }
  }

  async #restart(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return true;
    try {
      await this.#server.restart(signal);
      this.#log.info('PostgreSQL is running again');
      return true;
    } catch (error) {
      if (!signal.aborted) this.#log.error('PostgreSQL could not be restarted; retrying', error);
      return signal.aborted;
    }
  }
}
