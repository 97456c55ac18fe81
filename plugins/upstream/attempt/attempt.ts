import { bounds } from '#core/platform/bounds.ts';
import type { ReplyReader } from '#core/gateway/model-call/adapter.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { nextTurn, turnFor } from '#core/platform/timing/turn.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import type { Answer, AnswerBody } from './contract.ts';
import { AttemptClock, type TimeoutCause } from './clock.ts';
import { type CallControl, type CallHandler, isUnanswered } from '../connections/connection.ts';
import {
  connectionFault,
  type Fault,
  interruptedFault,
  memoryFault,
  routeFault,
  silentConnectionFault,
} from './fault.ts';
import { openBody } from './open-body.ts';
import type { AttemptRequest } from './contract.ts';

/** Maximum bytes of a stream in the four buffers between upstream and a slow client. */
const maxUnreadBytes = 4 * bounds.slowReader;

const maxTurnMs = 10;

/**
 * One request to one route with one key.
 *
 *     dispatched ── head ──┬─ status ≥ 300 ───────────────────────► refused ──────────────────────────┐
 *                          ├─ 2xx, events, not requested ──────────► whole ───────────────────────────┤
 *                          ├─ 2xx, events, as requested ───────────► gated ── content ──► streaming ──┼──► over
 *                          └─ 2xx, any other content type ─────────► unlabelled ── first bytes ─► (whole, gated)
 *
 * | state      | keeps at most      | time                        | when the upstream closes | when the time is up  |
 * |------------|--------------------|-----------------------------|--------------------------|----------------------|
 * | dispatched | –                  | first byte, deadline        | fault                    | fault                |
 * | refused    | `refusal`          | 2 s                         | the fault it explains    | the same             |
 * | unlabelled | its first KB       | first byte, deadline        | becomes whole            | fault                |
 * | whole      | `wholeReply`       | idle, deadline              | handed over              | fault                |
 * | gated      | `gatedEvents`      | first byte, progress, deadline | fault                 | fault                |
 * | streaming  | `slowReader`       | idle, progress; 0.5 s after finishing | over, or fault | over if it is complete |
 *
 * Until `whole` ends or `gated` has content the client has received nothing, and another route can take over. A fault before
 * that rejects `run`; later it truncates the reply and is reported to `onEnd`. The states are the bodies of
 * open-body.ts, whole-body.ts and stream-body.ts.
 */
export class Attempt implements CallHandler, Answer {
  readonly request: AttemptRequest;
  readonly reader: ReplyReader;
  readonly clock: AttemptClock;
  readonly #result = Promise.withResolvers<Reply>();
  #controller: CallControl | undefined;
  #status = 0;
  #headers: Answer['headers'] = {};
  #body: AnswerBody | undefined;
  #isHandedOver = false;
  #isClosed = false; // by the upstream
  #isOver = false;
  #isPaused = false; // for a slow reader
  #isYielding = false;
  #work = 0; // ms since it last yielded
  #held = 0; // bytes of memory reserved

  constructor(request: AttemptRequest, reader: ReplyReader) {
    this.request = request;
    this.reader = reader;
    const { deadline, firstByteTimeout: silence } = request.limits;
    this.clock = new AttemptClock({ deadline, silence, onTimeout: (cause) => this.#expire(cause) });
  }

  /** Status of the upstream's response; 0 before the head arrives. */
  get status(): number {
    return this.#status;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isYielding(): boolean {
    return this.#isYielding;
  }

  get isDisconnected(): boolean {
    return this.#controller?.connection?.isDestroyed === true;
  }

  get headers(): Answer['headers'] {
    return this.#headers;
  }

  /** @throws Fault if the route failed before anything was sent to the client */
  run(): Promise<Reply> {
    const { body } = this.request;
    const turn = typeof body === 'string' ? turnFor(body.length) : undefined;
    // A long body is encoded in a later turn than the one that wrote it.
    if (turn === undefined) this.#send();
    else turn.then(() => this.#send()).catch((error: unknown) => this.#fail(error));
    return this.#result.promise;
  }

  #send(): void {
    if (this.#isOver) return;
    const { agent, origin, path, headers, body } = this.request;
    try {
      agent.dispatch({ origin, path, method: 'POST', headers, body }, this);
    } catch (error) {
      this.end(connectionFault(error, false));
    }
  }

  onRequestStart(controller: CallControl): void {
    this.#controller = controller;
    this.request.onConnected?.();
    if (this.#isOver) controller.abort(new Error('cancelled before it was sent'));
  }

  onResponseStart(_controller: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    this.#status = status;
    this.#headers = headers;
    this.clock.noteByte();
    try {
      this.#body = openBody(this);
    } catch (error) {
      this.end(connectionFault(error, true));
    }
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#isOver) return;
    const began = performance.now();
    this.clock.noteByte(began);
    try {
      this.#body?.take(chunk);
    } catch (error) {
      this.#fail(error);
    }
    this.#work += performance.now() - began;
    if (this.#work > maxTurnMs && !this.#isYielding) this.#yieldTurn().catch((error: unknown) => this.#fail(error));
  }

  onResponseEnd(): void {
    this.#isClosed = true;
    try {
      if (!this.#isOver) this.#body?.end();
    } catch (error) {
      this.#fail(error);
    }
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#isClosed = true;
    const fault = connectionFault(error, this.#status !== 0);
    try {
      if (this.#isOver || this.#body?.disconnect === undefined) this.end(fault);
      else this.#body.disconnect(fault);
    } catch (failure) {
      this.#fail(failure);
    }
  }

  handOver(reply: Pick<Reply, 'body' | 'renderFailure'>, contentType: string): void {
    this.#isHandedOver = true;
    this.request.onContent();
    this.#result.resolve({ status: this.#status, headers: { 'content-type': contentType }, ...reply });
  }

  /** Ends the attempt in any state. Closes the connection unless the response is complete. */
  end(cause?: Fault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const fault = cause && (this.request.redact?.(cause) ?? cause);
    this.clock.stop();
    if (fault !== undefined) this.#releaseMemory();
    if (!this.#isClosed) this.#controller?.abort(fault ?? new Error('no longer needed'));
    if (!this.#isHandedOver) return this.#result.reject(fault);
    this.#body?.close?.(fault);
    this.request.onEnd(fault);
  }

  hold(bytes: number, mustFit = true): boolean {
    const { memory } = this.request;
    const change = bytes - this.#held;
    if (!mustFit) memory.add(change);
    else if (change > 0 && !memory.grow(change)) this.end(memoryFault(memory));
    else if (change < 0) memory.shrink(-change);
    if (!this.#isOver) this.#held = bytes;
    return !this.#isOver;
  }

  pause(): void {
    if (!this.#isPaused) this.request.memory.add(maxUnreadBytes);
    this.#isPaused = true;
    this.#controller?.pause();
  }

  resume(): void {
    if (this.#isPaused) this.request.memory.shrink(maxUnreadBytes);
    this.#isPaused = false;
    if (!this.#isYielding) this.#controller?.resume();
  }

  /** Yields to other exchanges: an upstream may send thousands of events at once. */
  async #yieldTurn(): Promise<void> {
    this.#isYielding = true;
    this.#controller?.pause();
    await nextTurn();
    this.#isYielding = false;
    this.#work = 0;
    if (!this.#isPaused && !this.#isOver) this.#controller?.resume();
  }

  /** Releases the memory of a failed response immediately. A reply that was handed over keeps it until the exchange ends. */
  #releaseMemory(): void {
    this.request.memory.shrink(this.#held);
    this.#held = 0;
  }

  #expire(cause: TimeoutCause): void {
    const timeout = this.#timeout(cause);
    try {
      if (this.#body === undefined) this.end(timeout);
      else this.#body.expire(timeout);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends only this attempt. Thrown in the calling timer or connection, the error would end the process. */
  #fail(error: unknown): void {
    this.request.onFailure?.(error);
    try {
      this.end(connectionFault(error, true));
    } catch (failure) {
      this.#result.reject(failure as Error);
      this.request.onFailure?.(failure);
    }
  }

  #timeout(cause: TimeoutCause): Fault {
    const message = this.#explain(cause);
    const connection = this.#controller?.connection;
    if (connection !== undefined && isUnanswered(connection)) return silentConnectionFault(message);
    const wasSent = this.#controller !== undefined;
    return wasSent ? interruptedFault('upstream_timeout', message) : routeFault('upstream_timeout', message);
  }

  #explain(cause: TimeoutCause): string {
    const { silence, progressLimit } = this.clock;
    if (cause === 'silence') return upstreamReason('upstream.reason.silent', { seconds: Math.round(silence / 1000) });
    if (cause === 'no progress')
      return upstreamReason('upstream.reason.no_content', { seconds: Math.round(progressLimit / 1000) });
    return upstreamReason('upstream.reason.deadline', { seconds: Math.round(this.request.limits.deadline) });
  }
}
