import type { AnswerKind, ReplyReader, WholeReply } from '#core/gateway/model-call/adapter.ts';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { footprint } from '#core/platform/memory/budget.ts';
import { runInTurns } from '#core/platform/timing/turn.ts';
import { withoutByteOrderMark } from '#core/gateway/model-call/sse-framer.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { type Answer, type AnswerBody, contentTypeOf, finishGrace } from './contract.ts';
import { jsonType } from './answer-kind.ts';
import { answerFault, interruptedFault, type Fault } from './fault.ts';
import { refusalFault } from './refusal.ts';

/** The status and first bytes of an error suffice to try another route. */
const errorBodyTimeoutMs = 2_000;

/** Body of a 3xx, 4xx or 5xx. Becomes a fault, explained by the part of the body that arrives in time. */
export class RefusalBody implements AnswerBody {
  readonly #answer: Answer;
  readonly #collected = new CollectedBytes();

  constructor(answer: Answer) {
    this.#answer = answer;
    answer.clock.limit(errorBodyTimeoutMs);
  }

  take(chunk: Buffer): void {
    this.#collected.add(chunk);
    if (this.#collected.size > bounds.refusal) this.end();
  }

  end(): void {
    const { status, headers, request } = this.#answer;
    const body = withoutByteOrderMark(this.#collected.bytes());
    this.#answer.end(refusalFault(status, headers, body, request.now(), request.secrets?.(), request.vendor));
  }

  expire(): void {
    this.end();
  }
}

/** Body of a 2xx that is handed over as a whole, and converted if a stream was requested or sent instead. */
export class WholeBody implements AnswerBody {
  readonly #answer: Answer;
  readonly #isStream: boolean;
  readonly #collected = new CollectedBytes();
  /** Watches a stream for its end, because it may stay open after its last event. */
  readonly #watcher: ReplyReader | undefined;
  #isInGrace = false;
  #isEnding = false;

  /** @param isStream true for a stream of events that was not requested */
  constructor(answer: Answer, isStream: boolean) {
    this.#answer = answer;
    this.#isStream = isStream;
    if (isStream) this.#watcher = answer.request.createReader?.();
    answer.clock.allow(answer.request.limits.idleTimeout * 1000);
  }

  take(chunk: Buffer): void {
    if (this.#isEnding) return;
    this.#collected.add(chunk);
    if (!this.#answer.hold(this.#collected.size * footprint.reply)) return this.#collected.clear();
    if (this.#collected.size > bounds.wholeReply)
      this.#answer.end(interruptedFault('upstream_failed', upstreamReason('upstream.reason.too_large')));
    else if (this.#watcher !== undefined) this.#watch(this.#watcher, chunk);
  }

  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#collected.size > bounds.stepwiseBody) {
      this.#endInTurns().catch((error: unknown) => this.#fail(error));
      return;
    }
    try {
      this.#handOver(this.#read());
    } catch (error) {
      this.#fail(error);
    }
  }

  expire(timeout: Fault): void {
    // The body is complete.
    if (this.#isEnding) return;
    if (this.#isInGrace) this.end();
    else this.#answer.end(timeout);
  }

  disconnect(fault: Fault): void {
    this.expire(fault);
  }

  async #endInTurns(): Promise<void> {
    const { reader } = this.#answer;
    const json = withoutByteOrderMark(this.#collected.bytes());
    const steps = reader.steps?.(json, jsonType(contentTypeOf(this.#answer)), this.#kind());
    const reply = steps === undefined ? this.#read() : await runInTurns(steps);
    if (!this.#answer.isOver) this.#handOver(reply);
  }

  #handOver({ body, contentType }: WholeReply): void {
    this.#collected.clear();
    this.#answer.hold(body.length);
    this.#answer.handOver({ body }, contentType);
    this.#answer.end();
  }

  #fail(error: unknown): void {
    const { status, request } = this.#answer;
    this.#answer.end(answerFault(toGatewayError(error), status, request.secrets?.()));
  }

  #kind(): AnswerKind {
    return { isEventStream: this.#isStream, isStreamRequested: this.#answer.request.isStream };
  }

  #watch(watcher: ReplyReader, chunk: Buffer): void {
    const { clock } = this.#answer;
    watcher.push(chunk);
    if (watcher.isFinished === this.#isInGrace) return;
    this.#isInGrace = watcher.isFinished;
    if (watcher.isFinished) clock.limit(finishGrace);
    else clock.liftLimit();
  }

  #read(): WholeReply {
    const { reader, request } = this.#answer;
    const body = withoutByteOrderMark(this.#collected.bytes());
    if (this.#isStream === request.isStream) return reader.whole(body, jsonType(contentTypeOf(this.#answer)));
    if (reader.convert !== undefined) return reader.convert(body, this.#isStream);
    const kind = this.#isStream ? 'stream_unasked' : 'stream_missing';
    throw new GatewayError('upstream_failed', upstreamReason(`upstream.reason.${kind}`));
  }
}
