import type { GatewayError } from '#core/errors.ts';
import type { Usage } from '#core/facts.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { renderStreamError } from '#core/render-error.ts';
import { readReportedError, reportedFailure } from '#core/upstream-error.ts';
import { count, member, parseObject, sum } from '../members.ts';
import type { ReplyObserver } from '../reply-observer.ts';

/** Watches a generateContent reply. Source: Gemini API reference, "GenerateContentResponse". */
export class GeminiObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  event(_name: string | undefined, data: string): void {
    const chunk = parseObject(data);
    if (chunk !== undefined) this.#chunk(chunk);
  }

  whole(body: JsonObject): void {
    this.#chunk(body);
    this.hasContent ||= typeof body['totalTokens'] === 'number';
    this.isComplete = true;
  }

  renderFailure(error: GatewayError): string {
    return renderStreamError(error, { id: this.#id, format: 'gemini', dialect: 'google' });
  }

  #chunk(chunk: JsonObject): void {
    const error = readReportedError(chunk);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.usage = geminiUsage(chunk['usageMetadata']) ?? this.usage;
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

/** Gemini counts thoughts beside the answer, and prompts of its own tools beside the prompt. */
export function geminiUsage(usage: JsonValue | undefined): Usage | undefined {
  const input = count(member(usage, 'promptTokenCount'));
  if (input === undefined) return undefined;
  const reasoning = count(member(usage, 'thoughtsTokenCount'));
  return {
    input: sum(input, count(member(usage, 'toolUsePromptTokenCount'))),
    output: sum(count(member(usage, 'candidatesTokenCount')), reasoning),
    cacheRead: count(member(usage, 'cachedContentTokenCount')),
    reasoning,
  };
}
