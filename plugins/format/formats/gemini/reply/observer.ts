import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { reportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { asText, member } from '../../../wire/members.ts';
import type { ReplyObserver } from '../../contract/pass-through.ts';
import { finishReasonOf, isWithheld, readAbort, readUsage } from './finish.ts';
import type { GeminiCandidate, GeminiContent, GeminiFeedback, GeminiPart, GeminiReply } from '../../../wire/gemini.ts';

/** Observes a generateContent reply. Source: Gemini API reference, "GenerateContentResponse". */
export class GeminiObserver implements ReplyObserver {
  hasContent = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  isPolicyRefusal = false;
  readonly #id: string;
  readonly #candidates: number;
  /** Indexes of the candidates that have begun, and of those that have ended. */
  readonly #begun = new Set<JsonValue>();
  readonly #finished = new Set<JsonValue>();
  /** True when there is nothing to wait for: the reply was whole, or the prompt was blocked. */
  #isSettled = false;
  /** True when content has come after the finish reasons. */
  #hasContinued = false;

  /** @param candidates that the client has asked for */
  constructor(id: string, candidates = 1) {
    this.#id = id;
    this.#candidates = candidates;
  }

  event(event: StreamEvent): void {
    const chunk = event.parse();
    if (chunk !== undefined) this.#chunk(chunk);
  }

  whole(body: JsonObject): void {
    this.#chunk(body);
    this.hasContent ||= typeof member<GeminiReply>(body, 'totalTokens') === 'number';
    this.#isSettled = true;
  }

  /** With several candidates, a vendor may send fewer than requested. */
  get isComplete(): boolean {
    return this.#isSettled || (this.#finished.size > 0 && this.#finished.size === this.#begun.size);
  }

  get isFinished(): boolean {
    return this.#isSettled || (this.isComplete && this.#finished.size >= this.#candidates && !this.#hasContinued);
  }

  /** Its stream ends with the body: chunks with an ending may come several times. */
  get isOver(): boolean {
    return false;
  }

  renderFailure(error: GatewayError): string {
    return renderStreamError(error, { id: this.#id, format: undefined, dialect: 'google' });
  }

  #chunk(chunk: JsonObject): void {
    const error = readReportedError(chunk);
    if (error !== undefined) this.failure = reportedFailure(error);
    const { usageMetadata, promptFeedback, candidates }: GeminiReply = chunk;
    this.usage = readUsage(usageMetadata) ?? this.usage;
    if (asText(member<GeminiFeedback>(promptFeedback, 'blockReason')) !== '') {
      this.hasContent = true;
      this.#isSettled = true;
      this.isPolicyRefusal = true;
    }
    for (const candidate of Array.isArray(candidates) ? candidates : []) this.#candidate(candidate);
  }

  #candidate(candidate: JsonValue): void {
    this.failure ??= readAbort(candidate);
    const index = member<GeminiCandidate>(candidate, 'index') ?? 0;
    const parts = member<GeminiContent>(member<GeminiCandidate>(candidate, 'content'), 'parts');
    const received = Array.isArray(parts) ? parts : [];
    this.#hasContinued ||=
      this.#finished.has(index) && received.some((part) => member<GeminiPart>(part, 'text') !== '');
    this.#begun.add(index);
    this.hasContent ||= received.length > 0;
    if (finishReasonOf(candidate) === undefined) return;
    this.#finished.add(index);
    this.hasContent = true;
    this.isPolicyRefusal ||= isWithheld(candidate);
  }
}
