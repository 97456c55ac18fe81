import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { reportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readRefusal, readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { member } from '../../../wire/members.ts';
import type { ReplyObserver } from '../../contract/pass-through.ts';
import { readAbort, readFinish, readUsage } from './finish.ts';
import type { ChatChoice, ChatReply } from '../../../wire/chat.ts';

/** Strings in a chunk that make it worth parsing once content has come: usage, an ending, an error. */
const notable = /"usage"\s*:\s*\{|"finish_reason"\s*:\s*"[^"]|"error"\s*:|"base_resp"\s*:/;

/** Observes a Chat Completions reply. Source: OpenAI API reference, "Chat streaming". */
export class ChatObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  isOver = false;
  readonly endMark = 'data: [DONE]\n\n';
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  isPolicyRefusal = false;
  readonly #id: string;
  readonly #choices: number;
  /** Indexes of the choices that have ended. */
  readonly #finished = new Set<JsonValue | undefined>();
  /** True when content has come after the finish reasons. */
  #hasContinued = false;

  /** @param choices that the client has asked for */
  constructor(id: string, choices = 1) {
    this.#id = id;
    this.#choices = choices;
  }

  get isFinished(): boolean {
    return this.isOver || (this.isComplete && !this.#hasContinued);
  }

  event(event: StreamEvent): void {
    if (event.isPlain && this.hasContent && !this.isComplete) return;
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
    // An event that is not a chunk may be an error.
    const isPlain = !event.isLong && data.includes('"choices"') && !notable.test(data);
    if (this.hasContent && !this.isComplete && isPlain) return;
    const chunk = event.parse();
    if (chunk !== undefined) this.#chunk(chunk);
  }

  whole(body: JsonObject): void {
    const { choices }: ChatReply = body;
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.failure ??= abortOf(body);
    this.usage = readUsage(body);
    this.hasContent = Array.isArray(choices) && choices.some(isAnswer);
    this.isPolicyRefusal = Array.isArray(choices) && choices.some(isWithheld);
    this.isComplete = true;
  }

  renderFailure(error: GatewayError): string {
    return renderStreamError(error, { id: this.#id, format: undefined, dialect: 'openai' });
  }

  #chunk(chunk: JsonObject): void {
    const { choices }: ChatReply = chunk;
    const error = readReportedError(chunk);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.usage = readUsage(chunk) ?? this.usage;
    this.failure ??= abortOf(chunk);
    for (const choice of Array.isArray(choices) ? choices : []) {
      const hasContent = hasDelta(member<ChatChoice>(choice, 'delta'));
      this.#hasContinued ||= this.isComplete && hasContent;
      if (isFinished(choice)) this.#finished.add(member<ChatChoice>(choice, 'index'));
      this.isPolicyRefusal ||= isWithheld(choice);
      // Some vendors leave out the [DONE] at the end; a finish reason of every choice means the same.
      this.isComplete ||= this.#finished.size >= this.#choices;
      this.hasContent ||= isFinished(choice) || hasContent;
    }
  }
}

/** True for a choice of a non-streaming reply that has content or a finish reason. */
function isAnswer(choice: JsonValue): boolean {
  return (
    isFinished(choice) ||
    hasDelta(member<ChatChoice>(choice, 'message')) ||
    hasDelta(member<ChatChoice>(choice, 'delta'))
  );
}

/** Some vendors write an empty reason until there is one. */
function isFinished(choice: JsonValue): boolean {
  const reason = member<ChatChoice>(choice, 'finish_reason');
  return typeof reason === 'string' && reason !== '' && reason !== 'null';
}

function isWithheld(choice: JsonValue): boolean {
  const finish = isJsonObject(choice) ? readFinish(choice) : undefined;
  return finish !== undefined && finish !== 'failed' && finish.reason === 'content_filter';
}

/** The error of the first answer that its vendor reports as failed. */
function abortOf({ choices }: ChatReply): GatewayError | undefined {
  for (const choice of Array.isArray(choices) ? choices : []) {
    const error = isJsonObject(choice) ? readAbort(choice) : undefined;
    if (error !== undefined) return error;
  }
  return undefined;
}

/** True when a delta carries more than the role. */
function hasDelta(delta: JsonValue | undefined): boolean {
  if (!isJsonObject(delta)) return false;
  return Object.entries(delta).some(([name, value]) => name !== 'role' && isFilled(value));
}
