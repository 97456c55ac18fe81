import { inBackground } from '../background.ts';
import { describeConnectionError, isConnectionError, isRefusedCommand } from '../errors/connection-error.ts';
import type { Logger } from '../logger.ts';
import { firstOrTimeout, timedOut } from '../timing/deadline.ts';
import { wait } from '../timing/wait.ts';
import { type Fallback, LateReply, ReplyWatch } from './reply-watch.ts';
import { SharedUnavailable } from './shared.ts';

/** All in time close an open circuit; none in time opens a closed one. */
const probesPerRound = 3;
const roundIntervalMs = 100;
const lateProbeTimeoutMs = 2_000;

interface CircuitOptions {
  readonly name?: string;
  /** A small write, so that it succeeds only where the commands of requests do. */
  readonly probe: () => Promise<unknown>;
  /** Replaces a connection that accepts commands and answers none. */
  readonly replaceConnection: () => void;
  /** Called when the circuit closes, before any command is sent again. */
  readonly onClose: () => void;
  readonly log: Logger;
}

/**
 * The circuit breaker around Redis. While it is closed, commands wait for their replies (see `ReplyWatch`). Missing or late
 * replies and a lost connection open it: commands then fail immediately, and background probes close it again.
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

  /** @throws SharedUnavailable while it is open */
  check(): void {
    if (this.#reason !== undefined) throw unavailable(new Error(this.#reason));
  }

  /**
   * Sends a command and waits for its reply.
   *
   * @param command not called while the circuit is open
   * @param fallback decides for a caller that should not wait long; others wait until the circuit opens
   * @throws SharedUnavailable
   */
  async run<T>(command: () => Promise<T>, fallback?: Fallback<T>): Promise<T> {
    this.check();
    try {
      // After a late reply, callers do not wait for the next one until a probe was in time.
      const { value, isLate } = await this.#watch.wait(command, fallback, this.#isProbing);
      if (isLate) this.#probe();
      return value;
    } catch (error) {
      if (error instanceof LateReply) this.#probe();
      // An error that Redis replied with concerns its command alone, unless a probe gets it as well.
      else if (isRefusedCommand(error)) this.#probe();
      else if (isConnectionError(error)) this.open(error);
      throw unavailable(error);
    }
  }

  /** Lets commands fail at once, those that wait as well, until probes are answered in time. */
  open(error: unknown): void {
    this.#reason = describeConnectionError(error);
    this.#watch.fail(new LateReply());
    this.#probe();
  }

  /** Starts probing. Resolves when Redis has answered in time, or after the given ms. */
  async start(milliseconds: number): Promise<void> {
    this.#probe();
    await firstOrTimeout([this.#firstClose.promise], milliseconds);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  #probe(): void {
    if (this.#isProbing) return;
    this.#isProbing = true;
    inBackground(this.#options.log, 'a probe of Redis', async () => {
      await this.#probeUntilInTime().finally(() => {
        this.#isProbing = false;
      });
    });
  }

  async #probeUntilInTime(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const failure = await this.#failureOfProbes();
      if (failure === undefined) return this.#close();
      if (!this.isOpen) this.open(failure);
      // A server that answers has the better reason than the connection had.
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

  /** Only a failure that a probe confirms is logged. */
  #report(): void {
    if (this.#isLogged || this.#closing.signal.aborted) return;
    this.#isLogged = true;
    this.#options.log.warn(`${this.#options.name ?? 'Redis'} is down: ${this.#reason}`);
  }

  async #failureOfProbes(): Promise<unknown> {
    let failure: unknown;
    for (let sent = 0; sent < probesPerRound; sent++) {
      failure = await this.#failureOfProbe();
      if (this.isOpen ? failure !== undefined : !(failure instanceof LateReply)) break;
    }
    return failure;
  }

  /** Waits for a late probe too, so that two never run at once. */
  async #failureOfProbe(): Promise<unknown> {
    const reply = this.#options.probe();
    try {
      const { isLate } = await this.#watch.wait(() => reply, giveUp);
      return isLate ? new LateReply() : undefined;
    } catch (error) {
      if (!(error instanceof LateReply)) return error;
      if (this.isOpen) this.#report();
      const end = await firstOrTimeout([reply.catch(() => undefined)], lateProbeTimeoutMs, this.#closing.signal);
      if (end === timedOut) this.#options.replaceConnection();
      return error;
    }
  }
}

function giveUp(): never {
  throw new LateReply();
}

/** The driver's error is its cause. Errors of a script keep their message. */
export function unavailable(error: unknown): SharedUnavailable {
  const reason = isConnectionError(error) || !(error instanceof Error) ? describeConnectionError(error) : error.message;
  return new SharedUnavailable(`Redis did not respond: ${reason}`, { cause: error });
}
