import type { ReplyReader, WholeReply } from '#core/gateway/model-call/adapter.ts';
import { stripByteOrderMark } from '#core/gateway/model-call/sse-framer.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { footprint } from '#core/platform/memory/budget.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { runInTurns } from '#core/platform/timing/turn.ts';
import { toClientContentType } from './content-type.ts';
import { type UpstreamResponse, type ResponseBody, getContentType, finishGraceMs } from './contract.ts';
import { createResponseFault, createInterruptedFault, type Fault } from './fault.ts';
import { parseRefusal } from './refusal.ts';

const errorBodyTimeoutMs = 2_000; // the status and the first bytes are enough to try another route

/** Body of a 3xx, 4xx or 5xx. It becomes a fault, described by the part of the body that arrives before the timeout. */
export class RefusalBody implements ResponseBody {
  readonly #response: UpstreamResponse;
  readonly #received = new CollectedBytes();

  constructor(response: UpstreamResponse) {
    this.#response = response;
    response.clock.startGrace(errorBodyTimeoutMs);
  }

  receive(chunk: Buffer): void {
    this.#received.add(chunk);
    if (this.#received.size > bounds.errorBody) this.end();
  }

  end(): void {
    const { status, headers, request } = this.#response;
    const body = stripByteOrderMark(this.#received.join());
    this.#response.end(parseRefusal(status, headers, body, request.now(), request.secrets?.(), request.vendor));
  }

  expire(): void {
    this.end();
  }
}

/** Body of a 2xx that is handed over when it is complete. It is converted if it is a stream and none was requested, or the reverse. */
export class WholeBody implements ResponseBody {
  readonly #response: UpstreamResponse;
  readonly #isEventStream: boolean;
  readonly #received = new CollectedBytes();
  /** Finds the end of a stream, which may stay open after its last event. */
  readonly #endReader: ReplyReader | undefined;
  #isInGrace = false;
  #isEnding = false;

  /** @param isStream true for a stream of events where none was requested */
  constructor(response: UpstreamResponse, isStream: boolean) {
    this.#response = response;
    this.#isEventStream = isStream;
    if (isStream) this.#endReader = response.request.createReader?.();
    response.clock.setTimeouts(response.request.limits.idleTimeout * 1000);
  }

  receive(chunk: Buffer): void {
    if (this.#isEnding) return;
    this.#received.add(chunk);
    if (!this.#response.reserveMemory(this.#received.size * footprint.reply)) return this.#received.clear();
    if (this.#received.size > bounds.bufferedReply)
      this.#response.end(createInterruptedFault('upstream_failed', upstreamReason('upstream.reason.too_large')));
    else if (this.#endReader !== undefined) this.#detectEnd(this.#endReader, chunk);
  }

  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#received.size > bounds.stepwiseBody) {
      this.#endInTurns().catch((error: unknown) => this.#fail(error));
      return;
    }
    try {
      this.#handOver(this.#convert());
    } catch (error) {
      this.#fail(error);
    }
  }

  expire(timeout: Fault): void {
    // The body is complete.
    if (this.#isEnding) return;
    if (this.#isInGrace) this.end();
    else this.#response.end(timeout);
  }

  disconnect(fault: Fault): void {
    this.expire(fault);
  }

  async #endInTurns(): Promise<void> {
    const { reader, request } = this.#response;
    const kind = { isEventStream: this.#isEventStream, isStreamRequested: request.isStream };
    const json = stripByteOrderMark(this.#received.join());
    const steps = reader.steps?.(json, toClientContentType(getContentType(this.#response)), kind);
    const reply = steps === undefined ? this.#convert() : await runInTurns(steps);
    if (!this.#response.isOver) this.#handOver(reply);
  }

  #handOver({ body, contentType }: WholeReply): void {
    this.#received.clear();
    this.#response.reserveMemory(body.length);
    this.#response.handOver({ body }, contentType);
    this.#response.end();
  }

  #fail(error: unknown): void {
    const { status, request } = this.#response;
    this.#response.end(createResponseFault(toGatewayError(error), status, request.secrets?.()));
  }

  #detectEnd(endReader: ReplyReader, chunk: Buffer): void {
    const { clock } = this.#response;
    endReader.push(chunk);
    if (endReader.isFinished === this.#isInGrace) return;
    this.#isInGrace = endReader.isFinished;
    if (endReader.isFinished) clock.startGrace(finishGraceMs);
    else clock.cancelGrace();
  }

  #convert(): WholeReply {
    const { reader, request } = this.#response;
    const body = stripByteOrderMark(this.#received.join());
    if (this.#isEventStream === request.isStream)
      return reader.whole(body, toClientContentType(getContentType(this.#response)));
    if (reader.convert !== undefined) return reader.convert(body, this.#isEventStream);
    const kind = this.#isEventStream ? 'stream_unasked' : 'stream_missing';
    throw new GatewayError('upstream_failed', upstreamReason(`upstream.reason.${kind}`));
  }
}
