import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { reportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readRefusal, readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { member } from '../../../wire/members.ts';
import type { ReplyObserver } from '../../contract/pass-through.ts';
import { isSecondStart, readFinish, secondStartError, UsageCounter } from './finish.ts';
import type { MessagesBlock, MessagesEnding, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';

/** Observes a Messages reply. Source: Anthropic API reference, "Streaming Messages". */
export class MessagesObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  isOver = false;
  readonly endMark = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
  failure: GatewayError | undefined;
  isPolicyRefusal = false;
  readonly #usage = new UsageCounter();
  readonly #id: string;
  readonly #onAnswer: ((answerId: string) => void) | undefined;
  /** Data of the first event; empty once there is content, behind which even the same one starts a second answer. */
  #started: string | undefined;

  constructor(id: string, onAnswer?: (answerId: string) => void) {
    this.#id = id;
    this.#onAnswer = onAnswer;
  }

  get usage(): Usage | undefined {
    return this.#usage.usage;
  }

  event(event: StreamEvent): void {
    switch (event.name ?? member<MessagesEvent>(event.parse(), 'type')) {
      case 'message_start':
        if (isSecondStart(this.#started, event.data)) this.failure = secondStartError();
        this.#started ??= event.data;
        this.#usage.add(member<MessagesReply>(member<MessagesEvent>(event.parse(), 'message'), 'usage'));
        this.#announce(member<MessagesReply>(member<MessagesEvent>(event.parse(), 'message'), 'id'));
        return;
      case 'content_block_start':
        this.#started &&= '';
        this.hasContent ||= !isEmptyBlock(member<MessagesEvent>(event.parse(), 'content_block'));
        return;
      case 'content_block_delta':
        this.hasContent = true;
        return;
      case 'message_delta':
        this.hasContent = true;
        this.#usage.add(member<MessagesEvent>(event.parse(), 'usage'));
        this.isComplete ||= hasStopReason(member<MessagesEvent>(event.parse(), 'delta'));
        this.isPolicyRefusal ||= isWithheld(member<MessagesEvent>(event.parse(), 'delta'));
        return;
      case 'message_stop':
        this.isComplete = true;
        this.isOver = true;
        return;
      case 'error':
        this.#fail(event.parse());
        return;
      default: {
        // Vendors that imitate this format leave out the type of an error event.
        const error = event.name === undefined ? readReportedError(event.parse()) : undefined;
        if (error !== undefined) this.failure = reportedFailure(error);
      }
    }
  }

  whole(body: JsonObject): void {
    const { type, usage, id, input_tokens: counted }: MessagesReply = body;
    if (type === 'error' || readReportedError(body) !== undefined) this.#fail(body);
    this.#usage.add(usage);
    this.#announce(id);
    this.hasContent = isAnswer(body) || typeof counted === 'number';
    this.isPolicyRefusal = isWithheld(body);
    this.isComplete = true;
  }

  get isFinished(): boolean {
    return this.isComplete;
  }

  renderFailure(error: GatewayError): string {
    return renderStreamError(error, { id: this.#id, format: undefined, dialect: 'anthropic' });
  }

  #announce(id: JsonValue | undefined): void {
    if (typeof id === 'string') this.#onAnswer?.(id);
  }

  #fail(body: JsonObject | undefined): void {
    this.failure = reportedFailure(readRefusal(body));
  }
}

/** True for a reply with content, or with the reason why it has none. */
function isAnswer(body: JsonObject): boolean {
  const { content }: MessagesReply = body;
  return Array.isArray(content) && (content.length > 0 || hasStopReason(body));
}

function hasStopReason(ending: JsonValue | undefined): boolean {
  const reason = member<MessagesEnding>(ending, 'stop_reason');
  return typeof reason === 'string' && reason !== '';
}

function isWithheld(ending: JsonValue | undefined): boolean {
  const finish = readFinish(ending);
  return finish?.type === 'finish' && finish.reason === 'content_filter';
}

/** True for a text or thinking block that is still empty. Other blocks have content from the start. */
function isEmptyBlock(block: JsonValue | undefined): boolean {
  const text = member<MessagesBlock>(block, 'text') ?? member<MessagesBlock>(block, 'thinking');
  return text === '';
}
