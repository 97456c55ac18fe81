import { runInBackground } from '../background.ts';
import { describeConnectionError, isConnectionError, isRefusedCommand } from '../errors/connection-error.ts';
import type { Logger } from '../logger.ts';
import { waitForFirst, notSettled } from '../timing/deadline.ts';
import { wait } from '../timing/wait.ts';
import { type Fallback, LateReply, ReplyWatch } from './reply-watch.ts';
import { SharedUnavailable } from './shared.ts';

/** If all replies are in time, an open circuit closes; if none is, a closed one opens. */
const probesPerRound = 3;
const roundIntervalMs = 100;
const lateProbeTimeoutMs = 2_000;

interface CircuitOptions {
  readonly name?: string;
  /** A small write, so that it succeeds only if the commands of requests do. */
  readonly probe: () => Promise<unknown>;
  /** Replaces a connection that accepts commands but does not reply. */
  readonly replaceConnection: () => void;
  /** Called when the circuit closes, before any command is sent again. */
  readonly onClose: () => void;
  readonly log: Logger;
}

/**
 * Circuit breaker around Redis. While closed, commands wait for their replies (see `ReplyWatch`). Missing or late replies and a lost
 * connection open it: commands then fail immediately, and background probes close it again.
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
  check(): void {
    if (this.#reason !== undefined) throw unavailable(new Error(this.#reason));
  }

  /**
   * Sends a command and waits for its reply.
   *
   * @param command not called while the circuit is open
   * @param fallback used for callers that should not wait long; others wait until the circuit opens
   * @throws SharedUnavailable
   */
  async run<T>(command: () => Promise<T>, fallback?: Fallback<T>): Promise<T> {
    this.check();
    try {
      // After a late reply, callers do not wait for the next one until a probe succeeded in time.
      const { value, isLate } = await this.#watch.wait(command, fallback, this.#isProbing);
      if (isLate) this.#probe();
      return value;
    } catch (error) {
      if (error instanceof LateReply) this.#probe();
      // An error reply concerns only its command, unless a probe gets it too.
      else if (isRefusedCommand(error)) this.#probe();
      else if (isConnectionError(error)) this.open(error);
      throw unavailable(error);
    }
  }

  /** Makes commands, including waiting ones, fail immediately until probes succeed in time. */
  open(error: unknown): void {
    this.#reason = describeConnectionError(error);
    this.#watch.fail(new LateReply());
    this.#probe();
  }

  /** Starts probing. Resolves when Redis replied in time, or after the given ms. */
  async start(milliseconds: number): Promise<void> {
    this.#probe();
    await waitForFirst([this.#firstClose.promise], milliseconds);
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
      // An error reply is a better reason than the connection's error.
      else if (isRefusedCommand(failure)) this.#reason = describeConnectionError(failure);
      this.#report();
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

  /** Logs a failure, once a probe confirmed it. */
  #report(): void {
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

  /** Waits for a late probe too, so that two never run concurrently. */
  async #runProbe(): Promise<unknown> {
    const reply = this.#options.probe();
    try {
      const { isLate } = await this.#watch.wait(() => reply, giveUp);
      return isLate ? new LateReply() : undefined;
    } catch (error) {
      if (!(error instanceof LateReply)) return error;
      if (this.isOpen) this.#report();
      const end = await waitForFirst([reply.catch(() => undefined)], lateProbeTimeoutMs, this.#closing.signal);
      if (end === notSettled) this.#options.replaceConnection();
      return error;
    }
  }
}

function giveUp(): never {
  throw new LateReply();
}

/** Wraps the driver's error as the cause. Script errors keep their message. */
export function unavailable(error: unknown): SharedUnavailable {
  const reason = isConnectionError(error) || !(error instanceof Error) ? describeConnectionError(error) : error.message;
  return new SharedUnavailable(`Redis did not respond: ${reason}`, { cause: error });
}
