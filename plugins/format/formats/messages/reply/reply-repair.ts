import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { plainIdRules, UniqueIds } from '../../../canonical/call-ids.ts';
import { asList, asText, readMember, keepIfSame } from '../../../wire/members.ts';
import type { MessagesEnding, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';
import { withMember } from '../../adaptation/adapt-members.ts';
import { type ReplyRepair, readEventType, replaceEventData } from '../../contract/pass-through.ts';
import { correctStopReason } from './finish.ts';
import { isCall, textToBlocks } from './read-output.ts';
import { RepeatedBlocks } from './repeated-blocks.ts';

/**
 * Repairs the replies of endpoints that imitate Messages. All other bytes stay unchanged.
 *
 * - Stop reason: Some endpoints report `end_turn` after a call, so some clients do not run the call, or together with a stop sequence.
 *   Others report `tool_use` without a call, so Claude Code repeats the request.
 * - Call ids: Some ids have characters that Anthropic rejects in every later request, such as `functions.Bash:0`. Others are duplicated or
 *   missing.
 * - Calls: Some endpoints send a call twice. The repetition is dropped.
 * - Citations: AI SDK 5 and 6 reject null. Anthropic omits `citations` if there are none.
 * - Content: Some endpoints send a string instead of a list of blocks.
 */
export class MessagesReplyRepair implements ReplyRepair {
  readonly failure = undefined;
  readonly #repeatedBlocks = new RepeatedBlocks();
  #hasCalls = false;
  readonly #ids = new UniqueIds(plainIdRules);
  readonly #exchangeId: string;
  #generatedIds = 0;
  /** Open calls by index, because some vendors send the start of a call twice. */
  readonly #openCalls = new Map<JsonValue | undefined, { readonly originalId: string; readonly id: string }>();

  /** @param id id of the exchange, for calls without an id */
  constructor(id: string) {
    this.#exchangeId = id;
  }

  get held(): number {
    return this.#repeatedBlocks.heldCharacters;
  }

  repairEvent(event: StreamEvent): readonly StreamEvent[] {
    const type = readEventType(event);
    const events = this.#repeatedBlocks.replaceEvent(event, type);
    return events.length === 1 && events[0] === event
      ? [this.#repair(event, type)]
      : events.map((entry) => this.#repair(entry, readEventType(entry)));
  }

  repairReply(body: JsonObject): JsonObject {
    const { content }: MessagesReply = body;
    const isText = typeof content === 'string';
    const blocks = isText ? textToBlocks(content) : asList(content);
    this.#hasCalls = blocks.some(isCall);
    const uniqueBlocks = blocks.filter((block, index) => this.#repeatedBlocks.acceptBlock(block, index));
    const repairedBlocks = uniqueBlocks.map((block) =>
      isCall(block) ? this.#withUniqueId(block) : withoutNullCitations(block),
    );
    const isSame = !isText && keepIfSame(blocks, repairedBlocks) === blocks;
    return this.#correctStopReason(isSame ? body : { ...body, content: repairedBlocks });
  }

  #repair(event: StreamEvent, type: JsonValue | undefined): StreamEvent {
    switch (type) {
      case 'content_block_start':
        return this.#repairStart(event);
      case 'content_block_stop':
        if (this.#openCalls.size > 0) this.#openCalls.delete(readMember<MessagesEvent>(event.parse(), 'index'));
        return event;
      case 'message_delta':
        return this.#repairEnding(event);
      default:
        return event;
    }
  }

  #repairStart(event: StreamEvent): StreamEvent {
    const body: MessagesEvent = event.parse() ?? {};
    const { content_block: block, index } = body;
    this.#hasCalls ||= isCall(block);
    const repairedBlock = isCall(block) ? this.#withUniqueId(block, index) : withoutNullCitations(block ?? null);
    return repairedBlock === block || block === undefined
      ? event
      : replaceEventData(event, { ...body, content_block: repairedBlock });
  }

  #withUniqueId(block: JsonObject, index?: JsonValue): JsonObject {
    const originalId = asText(block['id']);
    const openCall = this.#openCalls.get(index);
    const isOpen = index !== undefined && openCall?.originalId === originalId;
    const id = isOpen ? openCall.id : this.#ids.add(originalId || `call_${this.#exchangeId}_${this.#generatedIds++}`);
    if (index !== undefined) this.#openCalls.set(index, { originalId, id });
    return id === block['id'] ? block : { ...block, id };
  }

  #repairEnding(event: StreamEvent): StreamEvent {
    const body: MessagesEvent = event.parse() ?? {};
    const { delta } = body;
    if (!isJsonObject(delta)) return event;
    const correctedDelta = this.#correctStopReason(delta);
    if (correctedDelta === delta) return event;
    return replaceEventData(event, { ...body, delta: correctedDelta });
  }

  #correctStopReason(ending: JsonObject): JsonObject {
    return withMember<MessagesEnding>(ending, 'stop_reason', correctStopReason(ending, this.#hasCalls));
  }
}

function withoutNullCitations(block: JsonValue): JsonValue {
  if (!isJsonObject(block) || block['citations'] !== null) return block;
  const { citations: _, ...members } = block;
  return members;
}
