import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { type Answer, type AnswerBody, contentTypeOf } from './contract.ts';
import { isEventStream, looksLikeEvents } from './answer-kind.ts';
import { canDecode, DecodedBody } from './decoded-body.ts';
import { type Fault, routeFault } from './fault.ts';
import { StreamBody } from './stream-body.ts';
import { RefusalBody, WholeBody } from './whole-body.ts';

/**
 * Selects by the head how the body is read.
 *
 * @throws Fault if the body cannot be decoded
 */
export function openBody(answer: Answer): AnswerBody {
  const coding = String(answer.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (coding === 'identity' || coding === '') return openPlainBody(answer);
  if (canDecode(coding)) return new DecodedBody(answer, coding, openPlainBody);
  if (answer.status >= 300) return new RefusalBody(answer);
  throw routeFault('upstream_failed', upstreamReason('upstream.reason.encoding'));
}

function openPlainBody(answer: Answer): AnswerBody {
  if (answer.status >= 300) return new RefusalBody(answer);
  if (answer.reader.isBytes?.(contentTypeOf(answer)) === true) return new StreamBody(answer, contentTypeOf(answer));
  return isEventStream(contentTypeOf(answer)) ? openBodyOf(answer, true) : new UnlabelledBody(answer);
}

/** Some vendors stream without being asked, or do not stream although asked; both are accepted. */
function openBodyOf(answer: Answer, isStream: boolean): AnswerBody {
  return isStream && answer.request.isStream ? new StreamBody(answer) : new WholeBody(answer, isStream);
}

/** A body whose content type does not tell whether it is a stream; the first bytes do. */
class UnlabelledBody implements AnswerBody {
  readonly #answer: Answer;
  readonly #collected = new CollectedBytes();
  #body: AnswerBody | undefined;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  take(chunk: Buffer): void {
    if (this.#body !== undefined) return this.#body.take(chunk);
    this.#collected.add(chunk);
    const isStream = looksLikeEvents(this.#collected.bytes());
    if (isStream !== undefined) this.#open(isStream);
  }

  end(): void {
    (this.#body ?? this.#open(false)).end();
  }

  expire(timeout: Fault): void {
    if (this.#body === undefined) this.#answer.end(timeout);
    else this.#body.expire(timeout);
  }

  disconnect(fault: Fault): void {
    if (this.#body?.disconnect === undefined) this.#answer.end(fault);
    else this.#body.disconnect(fault);
  }

  close(fault: Fault | undefined): void {
    this.#body?.close?.(fault);
  }

  #open(isStream: boolean): AnswerBody {
    this.#body = openBodyOf(this.#answer, isStream);
    this.#body.take(this.#collected.take());
    return this.#body;
  }
}
