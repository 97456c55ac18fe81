import type { GatewayError } from '#core/errors/table.ts';
import type { Usage } from '#core/facts.ts';
import type { JsonObject } from '#core/json.ts';
import type { StreamEvent } from '#core/model-call/event-framer.ts';
import { renderStreamError } from '#core/errors/render.ts';
import { readReportedError, reportedFailure } from '#core/model-call/upstream-error.ts';
import { member } from '../request/members.ts';
import type { ReplyObserver } from '../reply-observer.ts';
import { readUsage } from './usage.ts';

/** Observes a generateContent reply. Source: Gemini API reference, "GenerateContentResponse". */
export class GeminiObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  event(event: StreamEvent): void {
    const chunk = event.parse();
    if (chunk !== undefined) this.#chunk(chunk);
  }

  whole(body: JsonObject): void {
    this.#chunk(body);
    this.hasContent ||= typeof body['totalTokens'] === 'number';
    this.isComplete = true;
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
    this.usage = readUsage(chunk['usageMetadata']) ?? this.usage;
    if (member(chunk['promptFeedback'], 'blockReason') !== undefined) this.#end();
    for (const candidate of Array.isArray(chunk['candidates']) ? chunk['candidates'] : []) {
      const parts = member(member(candidate, 'content'), 'parts');
      this.hasContent ||= Array.isArray(parts) && parts.length > 0;
      if (typeof member(candidate, 'finishReason') === 'string') this.#end();
    }
  }

  #end(): void {
    this.hasContent = true;
    this.isComplete = true;
  }
}
