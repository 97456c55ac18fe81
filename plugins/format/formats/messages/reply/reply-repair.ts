import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { asList, member } from '../../../wire/members.ts';
import { type ReplyRepair, rewriteData } from '../../contract/pass-through.ts';
import { settledStopReason } from './finish.ts';
import type { MessagesBlock, MessagesEnding, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';

/**
 * Repairs the stop reason of endpoints that imitate Messages: they report `end_turn` after a call, which some clients then
 * do not run, or `tool_use` without a call, for which Claude Code repeats the request. Other bytes stay.
 */
export class MessagesReplyRepair implements ReplyRepair {
  readonly failure = undefined;
  #hasCalls = false;

  event(event: StreamEvent): readonly StreamEvent[] {
    switch (event.name ?? member<MessagesEvent>(event.parse(), 'type')) {
      case 'content_block_start':
        this.#hasCalls ||= isCall(member<MessagesEvent>(event.parse(), 'content_block'));
        return [event];
      case 'message_delta':
        return [this.#ending(event)];
      default:
        return [event];
    }
  }

  whole(body: JsonObject): JsonObject {
    const { content }: MessagesReply = body;
    this.#hasCalls = asList(content).some(isCall);
    return this.#settled(body);
  }

  #ending(event: StreamEvent): StreamEvent {
    const body: MessagesEvent = event.parse() ?? {};
    const { delta } = body;
    if (!isJsonObject(delta)) return event;
    const settled = this.#settled(delta);
    if (settled === delta) return event;
    const text = rewriteData(event.text, { ...body, delta: settled });
    return new StreamEvent(
      { name: event.name, data: JSON.stringify({ ...body, delta: settled }) },
      text,
      Buffer.from(text),
    );
  }

  /** The same object when its stop reason fits the content. */
  #settled(ending: JsonObject): JsonObject {
    const { stop_reason: given }: MessagesEnding = ending;
    const settled = settledStopReason(given, this.#hasCalls);
    return settled === given ? ending : { ...ending, stop_reason: settled };
  }
}

function isCall(block: JsonValue | undefined): boolean {
  return member<MessagesBlock>(block, 'type') === 'tool_use';
}
