import { runInBackground } from '../background.ts';
import { describeConnectionError, isConnectionError, isRefusedCommand } from '../errors/connection-error.ts';
import type { Logger } from '../logger.ts';
import { waitForFirst, notSettled } from '../timing/deadline.ts';
import { wait } from '../timing/wait.ts';
import { type Fallback, LateReply, ReplyWatch } from './reply-watch.ts';
import { SharedUnavailable } from './shared.ts';

const probesPerRound = 3; // an open circuit closes if all replies of a round arrive in time; a closed one opens if none do
const roundIntervalMs = 100;
const lateProbeTimeoutMs = 2_000;

interface CircuitOptions {
  readonly name?: string;
  readonly probe: () => Promise<unknown>; // a small write, which fails whenever the commands of requests would fail
  readonly replaceConnection: () => void; // that accepts commands but does not reply
  readonly onClose: () => void; // before any command is sent again
  readonly log: Logger;
}

/**
 * Circuit breaker around Redis. While it is closed, commands wait for their replies (see `ReplyWatch`). Missing or late replies and a lost
 * connection open it. Commands then fail immediately, until background probes close it again.
 */
export class Circuit implements Disposable {
  readonly #options: CircuitOptions;
  readonly #watch = new ReplyWatch(() => this.open(new LateReply()));
  readonly #closing = new AbortController();
  #reason: string | undefined = 'not connected';
  readonly #firstClose = Promise.withResolvers<void>();
  #isLogged = false;
  #isProbing = false;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#reason !== undefined;
  }

  /** @throws SharedUnavailable while the circuit is open */
  requireClosed(): void {
    if (this.#reason !== undefined) throw toSharedUnavailable(new Error(this.#reason));
  }

  /**
   * Sends a command, unless the circuit is open, and waits for its reply. Throws SharedUnavailable.
   *
   * @param fallback supplies a value if the reply is late; without it, the caller waits until the circuit opens
   */
  async run<T>(command: () => Promise<T>, fallback?: Fallback<T>): Promise<T> {
    this.requireClosed();
    try {
      // After a late reply, callers use their fallback immediately until a probe has succeeded in time.
      const { value, isLate } = await this.#watch.wait(command, fallback, this.#isProbing);
      if (isLate) this.#probe();
      return value;
    } catch (error) {
      if (error instanceof LateReply) this.#probe();
      // An error reply concerns only its command, unless a probe gets the same error.
      else if (isRefusedCommand(error)) this.#probe();
      else if (isConnectionError(error)) this.open(error);
      throw toSharedUnavailable(error);
    }
  }

  /** Opens the circuit. Commands, including waiting ones, fail until probes succeed in time. */
  open(error: unknown): void {
    this.#reason = describeConnectionError(error);
    this.#watch.fail(new LateReply());
    this.#probe();
  }

  /** Starts probing. Resolves when Redis has replied in time, or after the timeout. */
  async start(timeoutMs: number): Promise<void> {
    this.#probe();
    await waitForFirst([this.#firstClose.promise], timeoutMs);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  #probe(): void {
    if (this.#isProbing) return;
    this.#isProbing = true;
    runInBackground(this.#options.log, 'a probe of Redis', async () => {
      await this.#probeUntilInTime().finally(() => {
        this.#isProbing = false;
      });
    });
  }

  async #probeUntilInTime(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const failure = await this.#runProbes();
      if (failure === undefined) return this.#close();
      if (!this.isOpen) this.open(failure);
      // An error reply is more informative than the connection's error.
      else if (isRefusedCommand(failure)) this.#reason = describeConnectionError(failure);
      this.#logFailure();
      await wait(roundIntervalMs, signal);
    }
  }

  #close(): void {
    if (this.#reason === undefined) return;
    this.#reason = undefined;
    if (this.#isLogged) this.#options.log.info(`${this.#options.name ?? 'Redis'} has recovered`);
    this.#isLogged = false;
    this.#options.onClose();
    this.#firstClose.resolve();
  }

  #logFailure(): void {
    if (this.#isLogged || this.#closing.signal.aborted) return;
    this.#isLogged = true;
    this.#options.log.warn(`${this.#options.name ?? 'Redis'} is down: ${this.#reason}`);
  }

  async #runProbes(): Promise<unknown> {
    let failure: unknown;
    for (let sent = 0; sent < probesPerRound; sent++) {
      failure = await this.#runProbe();
      if (this.isOpen ? failure !== undefined : !(failure instanceof LateReply)) break;
    }
    return failure;
  }

  /** Waits for the probe even if it is late, so that two probes never run concurrently. */
  async #runProbe(): Promise<unknown> {
    const reply = this.#options.probe();
    try {
      const { isLate } = await this.#watch.wait(() => reply, throwLateReply);
      return isLate ? new LateReply() : undefined;
    } catch (error) {
      if (!(error instanceof LateReply)) return error;
      if (this.isOpen) this.#logFailure();
      const result = await waitForFirst([reply.catch(() => undefined)], lateProbeTimeoutMs, this.#closing.signal);
      if (result === notSettled) this.#options.replaceConnection();
      return error;
    }
  }
}

function throwLateReply(): never {
  throw new LateReply();
}

/** Wraps an error of the driver. The messages of script errors are kept. */
export function toSharedUnavailable(error: unknown): SharedUnavailable {
  const reason = isConnectionError(error) || !(error instanceof Error) ? describeConnectionError(error) : error.message;
  return new SharedUnavailable(`Redis did not respond: ${reason}`, { cause: error });
}
