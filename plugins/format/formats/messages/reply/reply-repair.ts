import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { plainIds, UniqueIds } from '../../../canonical/call-ids.ts';
import { asList, asText, member, sameOr } from '../../../wire/members.ts';
import { type ReplyRepair, readEventType, replaceEventData } from '../../contract/pass-through.ts';
import { settledStopReason } from './finish.ts';
import { blocksOf } from './read-output.ts';
import { isCall, RepeatedBlocks } from './repeated-blocks.ts';
import type { MessagesEnding, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';

/**
 * Repairs the deviations of endpoints that imitate Messages. All other bytes stay unchanged.
 *
 * - Stop reason: some report `end_turn` after a call, so that some clients do not run it, or together with a stop sequence; some
 *   report `tool_use` without a call, so that Claude Code repeats the request.
 * - Ids of calls: some ids have characters that Anthropic rejects in every later request, such as `functions.Bash:0`; some ids are
 *   duplicated or missing.
 * - Citations: Anthropic omits `citations` if there are none; AI SDK 5 and 6 reject null.
 * - Calls: a call that repeats the id, name and input of an earlier call is dropped.
 * - Content: some send a string in place of the list of blocks.
 */
export class MessagesReplyRepair implements ReplyRepair {
  readonly failure = undefined;
  readonly #calls = new RepeatedBlocks();
  #hasCalls = false;
  readonly #ids = new UniqueIds(plainIds);
  readonly #id: string;
  #nameless = 0;
  /** Calls that have not ended, by index: some vendors send the start of a call twice. */
  readonly #open = new Map<JsonValue | undefined, { readonly given: string; readonly id: string }>();

  /** @param id id of the exchange, used for calls without an id */
  constructor(id: string) {
    this.#id = id;
  }

  get held(): number {
    return this.#calls.held;
  }

  repairEvent(event: StreamEvent): readonly StreamEvent[] {
    const type = readEventType(event);
    const passed = this.#calls.event(event, type);
    return passed.length === 1 && passed[0] === event
      ? [this.#repaired(event, type)]
      : passed.map((one) => this.#repaired(one, readEventType(one)));
  }

  repairReply(body: JsonObject): JsonObject {
    const { content }: MessagesReply = body;
    const isText = typeof content === 'string';
    const blocks = isText ? blocksOf(content) : asList(content);
    this.#hasCalls = blocks.some(isCall);
    const kept = blocks.filter((block) => !isCall(block) || !this.#calls.repeats(block));
    const named = kept.map((block) => (isCall(block) ? this.#named(block) : uncited(block)));
    const isSame = !isText && sameOr(blocks, named) === blocks;
    return this.#settled(isSame ? body : { ...body, content: named });
  }

  #repaired(event: StreamEvent, type: JsonValue | undefined): StreamEvent {
    switch (type) {
      case 'content_block_start':
        return this.#started(event);
      case 'content_block_stop':
        if (this.#open.size > 0) this.#open.delete(member<MessagesEvent>(event.parse(), 'index'));
        return event;
      case 'message_delta':
        return this.#ending(event);
      default:
        return event;
    }
  }

  #started(event: StreamEvent): StreamEvent {
    const body: MessagesEvent = event.parse() ?? {};
    const { content_block: block, index } = body;
    this.#hasCalls ||= isCall(block);
    const named = isCall(block) ? this.#named(block, index) : uncited(block ?? null);
    return named === block || block === undefined ? event : replaceEventData(event, { ...body, content_block: named });
  }

  /**
   * The call with an id that is unique and that Anthropic accepts.
   *
   * @param index index in a stream
   */
  #named(block: JsonObject, index?: JsonValue): JsonObject {
    const given = asText(block['id']);
    const open = this.#open.get(index);
    const isOpen = index !== undefined && open?.given === given;
    const id = isOpen ? open.id : this.#ids.next(given || `call_${this.#id}_${this.#nameless++}`);
    if (index !== undefined) this.#open.set(index, { given, id });
    return id === block['id'] ? block : { ...block, id };
  }

  #ending(event: StreamEvent): StreamEvent {
    const body: MessagesEvent = event.parse() ?? {};
    const { delta } = body;
    if (!isJsonObject(delta)) return event;
    const settled = this.#settled(delta);
    if (settled === delta) return event;
    return replaceEventData(event, { ...body, delta: settled });
  }

  /** Corrects the stop reason; returns the same object if the reason fits the content. */
  #settled(ending: JsonObject): JsonObject {
    const { stop_reason: given }: MessagesEnding = ending;
    const settled = settledStopReason(ending, this.#hasCalls);
    return settled === given ? ending : { ...ending, stop_reason: settled };
  }
}

function uncited(block: JsonValue): JsonValue {
  if (!isJsonObject(block) || block['citations'] !== null) return block;
  const { citations: _, ...members } = block;
  return members;
}
