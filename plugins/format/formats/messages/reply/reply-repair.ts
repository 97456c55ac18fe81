import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { plainIds, UniqueIds } from '../../../canonical/call-ids.ts';
import { asList, member } from '../../../wire/members.ts';
import { type ReplyRepair, rewriteData } from '../../contract/pass-through.ts';
import { settledStopReason } from './finish.ts';
import type { MessagesBlock, MessagesEnding, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';

/**
 * Repairs what endpoints that imitate Messages do wrong. Other bytes stay.
 *
 * - Stop reason: they report `end_turn` after a call, which some clients then do not run, or beside a stop sequence, or `tool_use`
 *   without a call, for which Claude Code repeats the request.
 * - Ids of calls: some have characters that Anthropic refuses in every later request, `functions.Bash:0`; some come twice.
 */
export class MessagesReplyRepair implements ReplyRepair {
  readonly failure = undefined;
  #hasCalls = false;
  readonly #ids = new UniqueIds(plainIds);
  /** Calls that have not ended, by their index: the start of some comes twice. */
  readonly #open = new Map<JsonValue | undefined, { readonly given: string; readonly id: string }>();

  event(event: StreamEvent): readonly StreamEvent[] {
    switch (event.name ?? member<MessagesEvent>(event.parse(), 'type')) {
      case 'content_block_start':
        return [this.#started(event)];
      case 'content_block_stop':
        if (this.#open.size > 0) this.#open.delete(member<MessagesEvent>(event.parse(), 'index'));
        return [event];
      case 'message_delta':
        return [this.#ending(event)];
      default:
        return [event];
    }
  }

  whole(body: JsonObject): JsonObject {
    const { content }: MessagesReply = body;
    const blocks = asList(content);
    this.#hasCalls = blocks.some(isCall);
    const named = blocks.map((block) => (isCall(block) ? this.#named(block) : block));
    const isSame = named.every((block, index) => block === blocks[index]);
    return this.#settled(isSame ? body : { ...body, content: named });
  }

  #started(event: StreamEvent): StreamEvent {
    const body: MessagesEvent = event.parse() ?? {};
    const { content_block: block, index } = body;
    if (!isCall(block)) return event;
    this.#hasCalls = true;
    const named = this.#named(block, index);
    return named === block ? event : rewritten(event, { ...body, content_block: named });
  }

  /** The call with an id of its own that clients may send to Anthropic. @param index in a stream */
  #named(block: JsonObject, index?: JsonValue): JsonObject {
    const { id: given }: MessagesBlock = block;
    if (typeof given !== 'string') return block;
    const open = this.#open.get(index);
    const id = index !== undefined && open?.given === given ? open.id : this.#ids.next(given);
    if (index !== undefined) this.#open.set(index, { given, id });
    return id === given ? block : { ...block, id };
  }

  #ending(event: StreamEvent): StreamEvent {
    const body: MessagesEvent = event.parse() ?? {};
    const { delta } = body;
    if (!isJsonObject(delta)) return event;
    const settled = this.#settled(delta);
    if (settled === delta) return event;
    return rewritten(event, { ...body, delta: settled });
  }

  /** The same object when its stop reason fits the content. */
  #settled(ending: JsonObject): JsonObject {
    const { stop_reason: given }: MessagesEnding = ending;
    const settled = settledStopReason(ending, this.#hasCalls);
    return settled === given ? ending : { ...ending, stop_reason: settled };
  }
}

function rewritten(event: StreamEvent, body: JsonObject): StreamEvent {
  const text = rewriteData(event.text, body);
  return new StreamEvent({ name: event.name, data: JSON.stringify(body) }, text, Buffer.from(text));
}

function isCall(block: JsonValue | undefined): block is JsonObject {
  return member<MessagesBlock>(block, 'type') === 'tool_use';
}
