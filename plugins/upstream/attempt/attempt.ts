import type { ReplyReader } from '#core/gateway/model-call/adapter.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { bounds } from '#core/platform/bounds.ts';
import { nextTurn, yieldIfLong } from '#core/platform/timing/turn.ts';
import { type CallControl, type CallHandler, isUnanswered } from '../connections/connection.ts';
import { AttemptClock, type TimeoutCause } from './clock.ts';
import type { AttemptRequest, ResponseBody, UpstreamResponse } from './contract.ts';
import {
  createConnectionFault,
  type Fault,
  createInterruptedFault,
  createMemoryFault,
  createRouteFault,
  createSilentConnectionFault,
} from './fault.ts';
import { openBody } from './open-body.ts';

const maxUnreadBytes = 4 * bounds.slowReader; // in the four buffers between the upstream and a slow client

const maxTurnMs = 10;

/**
 * Sends one request to one route with one key and reads the response.
 *
 *     dispatched ── head ──┬─ status ≥ 300 ───────────────────────► refused ──────────────────────────┐
 *                          ├─ 2xx, events, not requested ──────────► whole ───────────────────────────┤
 *                          ├─ 2xx, events, as requested ───────────► gated ── content ──► streaming ──┼──► over
 *                          └─ 2xx, any other content type ─────────► unlabelled ── first bytes ─► (whole, gated)
 *
 * | state      | buffers at most    | timeouts                    | if the upstream closes   | if it times out      |
 * |------------|--------------------|-----------------------------|--------------------------|----------------------|
 * | dispatched | –                  | first byte, deadline        | fault                    | fault                |
 * | refused    | `errorBody`        | 2 s                         | the fault it explains    | the same             |
 * | unlabelled | its first KB       | first byte, deadline        | becomes whole            | fault                |
 * | whole      | `wholeReply`       | idle, deadline              | handed over              | fault                |
 * | gated      | `gatedEvents`      | first byte, progress, deadline | fault                 | fault                |
 * | streaming  | `slowReader`       | idle, progress; 0.5 s after finishing | over, or fault | over if it is complete |
 *
 * Until `whole` ends or `gated` has content, nothing has been sent to the client, and another route can take over. A fault before
 * that rejects `run`; a later fault truncates the reply and is passed to `onEnd`. Each state is a body class of open-body.ts,
 * whole-body.ts or stream-body.ts.
 */
export class Attempt implements CallHandler, UpstreamResponse {
  readonly request: AttemptRequest;
  readonly reader: ReplyReader;
  readonly clock: AttemptClock;
  readonly #result = Promise.withResolvers<Reply>();
  #controller: CallControl | undefined;
  #status = 0;
  #headers: UpstreamResponse['headers'] = {};
  #responseBody: ResponseBody | undefined;
  #isHandedOver = false;
  #isClosedByUpstream = false;
  #isOver = false;
  #isPausedForReader = false;
  #isYielding = false;
  #workSinceYieldMs = 0; // since the last yield
  #reservedBytes = 0; // of memory

  constructor(request: AttemptRequest, reader: ReplyReader) {
    this.request = request;
    this.reader = reader;
    const { deadline, firstByteTimeout: silence } = request.limits;
    this.clock = new AttemptClock({ deadline, silence, onTimeout: (cause) => this.#expire(cause) });
  }

  /** Status of the upstream's response; 0 until the head arrives. */
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

  get headers(): UpstreamResponse['headers'] {
    return this.#headers;
  }

  /** @throws Fault if the route failed before anything was sent to the client */
  run(): Promise<Reply> {
    const { body } = this.request;
    const turn = typeof body === 'string' ? yieldIfLong(body.length) : undefined;
    // A long body is encoded in a separate turn, after the turn that serialized it.
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
      this.end(createConnectionFault(error, false));
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
      this.#responseBody = openBody(this);
    } catch (error) {
      this.end(createConnectionFault(error, true));
    }
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#isOver) return;
    const startedAt = performance.now();
    this.clock.noteByte(startedAt);
    try {
      this.#responseBody?.receive(chunk);
    } catch (error) {
      this.#fail(error);
    }
    this.#workSinceYieldMs += performance.now() - startedAt;
    if (this.#workSinceYieldMs > maxTurnMs && !this.#isYielding)
      this.#yieldTurn().catch((error: unknown) => this.#fail(error));
  }

  onResponseEnd(): void {
    this.#isClosedByUpstream = true;
    try {
      if (!this.#isOver) this.#responseBody?.end();
    } catch (error) {
      this.#fail(error);
    }
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#isClosedByUpstream = true;
    const fault = createConnectionFault(error, this.#status !== 0);
    try {
      if (this.#isOver || this.#responseBody?.disconnect === undefined) this.end(fault);
      else this.#responseBody.disconnect(fault);
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
    // A complete reply keeps its memory until the exchange ends.
    if (fault !== undefined) this.#releaseMemory();
    if (!this.#isClosedByUpstream) this.#controller?.abort(fault ?? new Error('no longer needed'));
    if (!this.#isHandedOver) return this.#result.reject(fault);
    this.#responseBody?.close?.(fault);
    this.request.onEnd(fault);
  }

  reserveMemory(bytes: number, mustFit = true): boolean {
    const { memory } = this.request;
    const change = bytes - this.#reservedBytes;
    if (!mustFit) memory.add(change);
    else if (change > 0 && !memory.grow(change)) this.end(createMemoryFault(memory));
    else if (change < 0) memory.shrink(-change);
    if (!this.#isOver) this.#reservedBytes = bytes;
    return !this.#isOver;
  }

  pause(): void {
    if (!this.#isPausedForReader) this.request.memory.add(maxUnreadBytes);
    this.#isPausedForReader = true;
    this.#controller?.pause();
  }

  resume(): void {
    if (this.#isPausedForReader) this.request.memory.shrink(maxUnreadBytes);
    this.#isPausedForReader = false;
    if (!this.#isYielding) this.#controller?.resume();
  }

  /** Yields to other exchanges, because an upstream may send thousands of events at once. */
  async #yieldTurn(): Promise<void> {
    this.#isYielding = true;
    this.#controller?.pause();
    await nextTurn();
    this.#isYielding = false;
    this.#workSinceYieldMs = 0;
    if (!this.#isPausedForReader && !this.#isOver) this.#controller?.resume();
  }

  #releaseMemory(): void {
    this.request.memory.shrink(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #expire(cause: TimeoutCause): void {
    const timeout = this.#createTimeoutFault(cause);
    try {
      if (this.#responseBody === undefined) this.end(timeout);
      else this.#responseBody.expire(timeout);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends only this attempt. An error thrown into the calling timer or connection would end the process. */
  #fail(error: unknown): void {
    this.request.onFailure?.(error);
    try {
      this.end(createConnectionFault(error, true));
    } catch (failure) {
      this.#result.reject(failure);
      this.request.onFailure?.(failure);
    }
  }

  #createTimeoutFault(cause: TimeoutCause): Fault {
    const message = this.#describeTimeout(cause);
    const connection = this.#controller?.connection;
    if (connection !== undefined && isUnanswered(connection)) return createSilentConnectionFault(message);
    const wasSent = this.#controller !== undefined;
    return wasSent
      ? createInterruptedFault('upstream_timeout', message)
      : createRouteFault('upstream_timeout', message);
  }

  #describeTimeout(cause: TimeoutCause): string {
    const { silenceTimeoutMs, progressTimeoutMs } = this.clock;
    if (cause === 'silence')
      return upstreamReason('upstream.reason.silent', { seconds: Math.round(silenceTimeoutMs / 1000) });
    if (cause === 'no progress')
      return upstreamReason('upstream.reason.no_content', { seconds: Math.round(progressTimeoutMs / 1000) });
    return upstreamReason('upstream.reason.deadline', { seconds: Math.round(this.request.limits.deadline) });
  }
}
