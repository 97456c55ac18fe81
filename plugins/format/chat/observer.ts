import type { GatewayError } from '#core/errors/table.ts';
import type { Usage } from '#core/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { StreamEvent } from '#core/model-call/event-framer.ts';
import { renderStreamError } from '#core/errors/render.ts';
import { readRefusal, readReportedError, reportedFailure } from '#core/model-call/upstream-error.ts';
import { member } from '../request/members.ts';
import type { ReplyObserver } from '../reply-observer.ts';
import { readUsage } from './usage.ts';

/** Strings in a chunk that make it worth parsing once content has come: usage, an ending, an error. */
const notable = /"usage"\s*:\s*\{|"finish_reason"\s*:\s*"|"error"\s*:/;

/** Observes a Chat Completions reply. Source: OpenAI API reference, "Chat streaming". */
export class ChatObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  isOver = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #id: string;
  readonly #choices: number;
  /** Indexes of the choices that have ended. */
  readonly #finished = new Set<JsonValue | undefined>();

  /** @param choices that the client has asked for */
  constructor(id: string, choices = 1) {
    this.#id = id;
    this.#choices = choices;
  }

  event(event: StreamEvent): void {
    const { name, data = '' } = event;
    if (data.trim() === '[DONE]') {
      this.isComplete = true;
      this.isOver = true;
      return;
    }
    if (name === 'error') {
      this.failure = reportedFailure(readRefusal(event.parse() ?? { message: data }));
      return;
    }
    if (this.hasContent && !notable.test(data)) return;
    const chunk = event.parse();
    if (chunk !== undefined) this.#chunk(chunk);
  }

  whole(body: JsonObject): void {
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.usage = readUsage(body);
    this.hasContent = Array.isArray(body['choices']) && body['choices'].length > 0;
    this.isComplete = true;
  }

  renderFailure(error: GatewayError): string {
    return renderStreamError(error, { id: this.#id, format: undefined, dialect: 'openai' });
  }

  #chunk(chunk: JsonObject): void {
    const error = readReportedError(chunk);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.usage = readUsage(chunk) ?? this.usage;
    for (const choice of Array.isArray(chunk['choices']) ? chunk['choices'] : []) {
      const isFinished = typeof member(choice, 'finish_reason') === 'string';
      if (isFinished) this.#finished.add(member(choice, 'index'));
      // Some vendors leave out the [DONE] at the end; a finish reason of every choice says as much.
      this.isComplete ||= this.#finished.size >= this.#choices;
      this.hasContent ||= isFinished || hasDelta(member(choice, 'delta'));
    }
  }
}

/** True when a delta carries more than the role. */
function hasDelta(delta: JsonValue | undefined): boolean {
  if (!isJsonObject(delta)) return false;
  return Object.entries(delta).some(
    ([name, value]) => name !== 'role' && value !== null && value !== '' && value !== undefined,
  );
}
