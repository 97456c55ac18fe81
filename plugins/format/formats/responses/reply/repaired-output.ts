import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { type StreamedText, textPartOf, textPartOfEvent } from './text-parts.ts';
import { member } from '../../../wire/members.ts';
import { itemTypeOf } from './events.ts';
import { OutputItems } from './output-items.ts';
import { inputMemberOf, inputText, isSameCall, openItem, repairItem, withMembers } from './repair-item.ts';
import type { StreamedItem, GrowingText, StreamedPart } from './streamed-item.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';

type Events = readonly ResponsesEvent[];

/** Types of the items that the model writes; the vendor's own tools make the others. */
const modelItems: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call']);

/** Repairs the events about items and their parts. Events have no number if the upstream sent none. */
export class RepairedOutput {
  readonly #items: OutputItems;
  /** The text that the last event appended to; undefined if it was not a delta. */
  grown: GrowingText | undefined;

  /** @param id id of the exchange; undefined to leave items without an id as they are */
  constructor(id?: string) {
    this.#items = new OutputItems(id);
  }

  get isEmpty(): boolean {
    return this.#items.isEmpty;
  }

  get soFar(): JsonValue[] {
    return this.#items.announced.map((item) => (item.isDone ? item.item : item.partial()));
  }

  /** The events that the client gets for an upstream event; a clean event is returned alone as the same object. */
  event(type: string, data: ResponsesEvent): Events {
    this.grown = undefined;
    const { item } = data;
    if (type === 'response.output_item.added') return isJsonObject(item) ? this.#added(data, item) : [];
    if (type === 'response.output_item.done') return isJsonObject(item) ? this.#done(data, item) : [];
    const itemType = itemTypeOf(type);
    if (itemType !== undefined && !modelItems.has(itemType)) return this.#hosted(itemType, data);
    // A late event adds nothing to a finished item; a late delta begins another.
    if (!type.endsWith('.delta') && this.#items.isDone(data)) return [];
    const kind = textPartOfEvent(type);
    if (kind !== undefined) return type.endsWith('.delta') ? this.#delta(data, kind) : this.#text(data, kind);
    if (type.includes('_part.')) return this.#part(type, data);
    if (type === 'response.output_text.annotation.added') return this.#cite(data);
    return itemType === undefined ? [data] : this.#input(type, itemType, data);
  }

  /**
   * The items of a whole reply.
   *
   * @param status status for an item without a status
   */
  whole(given: readonly JsonValue[], status: string): JsonValue[] {
    const unlisted = this.#items.byType();
    return given.filter(isJsonObject).flatMap((item) => {
      const known = this.#items.recall(item, unlisted);
      if (known.isDone) return [];
      known.item = repairItem(item, known.names, status);
      known.end(known.item);
      return [known.item as JsonObject];
    });
  }

  /** The events for what the output at the end of the reply adds. */
  repeat(given: readonly JsonValue[]): Events {
    const unlisted = this.#items.byType();
    return given.filter(isJsonObject).flatMap((item) => {
      const known = this.#items.recall(item, unlisted);
      if (!known.isDone) return this.#isRepetition(known, item) ? [] : this.#finish(known, item, 'completed');
      known.item = repairItem(item, known.names, 'completed');
      return [];
    });
  }

  /** The events that close all open items, the last with this status. */
  close(status: string): Events {
    // A call without a name cannot be run.
    const open = this.#items.open.filter(({ isAnnounced }) => isAnnounced);
    return open.flatMap((item) => this.#finish(item, undefined, item === open.at(-1) ? status : 'completed'));
  }

  /** True for a call that repeats the id, name and input of an earlier call. It is marked as done without reaching the client. */
  #isRepetition(known: StreamedItem, given: ResponsesItem): boolean {
    const { twin, isAnnounced, held } = known;
    const input = inputMemberOf(known.type);
    if (twin === undefined || isAnnounced || input === undefined) return false;
    known.twin = undefined;
    const whole = inputText(given[input]) || held.text;
    known.isDone = isSameCall({ ...twin.item, type: known.type }, { ...given, type: known.type, [input]: whole });
    if (known.isDone) known.end(given);
    else this.#items.nameCall(known);
    return known.isDone;
  }

  #added(data: ResponsesEvent, given: ResponsesItem): Events {
    const known = this.#items.announce(data, given);
    const item = withoutInput(repairItem(given, known.names, 'in_progress'), known);
    // The name may arrive only when the call ends.
    if (known.twin !== undefined || (item.type === 'function_call' && typeof item.name !== 'string')) return [];
    const added = known.announce(this.#items.nextIndex(), item);
    return [withMembers(data, { output_index: added.output_index, item })];
  }

  #done(data: ResponsesEvent, given: ResponsesItem): Events {
    const known = this.#items.finishing(data, given);
    if (known.isDone || this.#isRepetition(known, given)) return [];
    const events = known.finish(given, 'completed', this.#items.nextIndex);
    return [...events, withMembers(data, { output_index: known.index, item: known.item })];
  }

  #finish(known: StreamedItem, given: ResponsesItem | undefined, status: string): Events {
    const events = known.finish(given, status, this.#items.nextIndex);
    return [...events, { type: 'response.output_item.done', output_index: known.index, item: known.item }];
  }

  /** The item that an event belongs to, and the event that adds the item if the client does not know it. */
  #known(type: string, data: ResponsesEvent): { readonly item: StreamedItem; readonly events: Events } {
    const item = this.#items.find(data, type);
    if (item.isAnnounced) return { item, events: [] };
    const open = openItem(repairItem({ type }, item.names, 'in_progress'));
    return { item, events: [item.announce(this.#items.nextIndex(), open)] };
  }

  /** The part that an event belongs to, and the events that announce it and its item. */
  #knownPart(
    data: ResponsesEvent,
    kind: StreamedText,
  ): { readonly item: StreamedItem; readonly part: StreamedPart; readonly events: Events } {
    const { item, events } = this.#known(itemTypeOf(`${kind.events}.delta`) ?? 'message', data);
    const given = data[kind.index];
    const known = item.findPart(kind, given);
    if (known !== undefined) return { item, part: known, events };
    const part = item.openPart(kind, given);
    return { item, part, events: [...events, part.added(item.place)] };
  }

  #delta(data: ResponsesEvent, kind: StreamedText): Events {
    const { delta } = data;
    if (typeof delta !== 'string') return [];
    const { item, part, events } = this.#knownPart(data, kind);
    part.grown.add(delta);
    this.grown = part.grown;
    const placed = withMembers(data, part.place(item.place));
    return events.length === 0 ? [placed] : [...events, placed];
  }

  #text(data: ResponsesEvent, kind: StreamedText): Events {
    const { item, part, events } = this.#knownPart(data, kind);
    if (part.hasEndedText) return events;
    const whole = data[kind.member];
    const rest = typeof whole === 'string' ? part.rest(item.place, whole, data.logprobs) : [];
    part.hasEndedText = true;
    const text = typeof whole === 'string' ? whole : part.grown.text;
    return [...events, ...rest, withMembers(data, { ...part.place(item.place), [kind.member]: text })];
  }

  #part(type: string, data: ResponsesEvent): Events {
    const { part: given } = data;
    const summary = type.includes('summary') ? 'summary_text' : 'output_text';
    const kind = textPartOf(isJsonObject(given) ? member<ResponsesPart>(given, 'type') : summary);
    if (kind === undefined) return [data];
    return type.endsWith('.added') ? this.#partAdded(data, kind, given) : this.#partDone(data, kind, given);
  }

  #partAdded(data: ResponsesEvent, kind: StreamedText, given: JsonValue | undefined): Events {
    const { item, events } = this.#known(itemTypeOf(`${kind.events}.delta`) ?? 'message', data);
    // An earlier delta may already have opened the part.
    if (item.findPart(kind, data[kind.index]) !== undefined) return events;
    const opened = item.openPart(kind, data[kind.index]);
    const part: ResponsesPart = isJsonObject(given) ? given : opened.write();
    opened.grown.add(inputText(part[kind.member]));
    return [...events, withMembers(data, { ...opened.place(item.place), part })];
  }

  #partDone(data: ResponsesEvent, kind: StreamedText, given: JsonValue | undefined): Events {
    const { item, part, events } = this.#knownPart(data, kind);
    const received: ResponsesPart = isJsonObject(given) ? given : {};
    const whole = received[kind.member];
    const rest = typeof whole === 'string' ? part.rest(item.place, whole) : [];
    const ended = part.endText(item.place);
    part.isClosed = true;
    const closed =
      typeof whole === 'string' ? received : { ...part.write(), ...received, [kind.member]: part.grown.text };
    return [...events, ...rest, ...ended, withMembers(data, { ...part.place(item.place), part: closed })];
  }

  #cite(data: ResponsesEvent): Events {
    const { item, part, events } = this.#knownPart(data, textPartOf('output_text') as StreamedText);
    const { annotation_index: given } = data;
    const index = typeof given === 'number' ? given : item.citations;
    item.citations = index + 1;
    return [...events, withMembers(data, { ...part.place(item.place), annotation_index: index })];
  }

  /** Holds back the input of a call until its name is known. */
  #input(type: string, itemType: string, data: ResponsesEvent): Events {
    const item = this.#items.find(data, itemType);
    const name = inputMemberOf(itemType) ?? 'input';
    if (type.endsWith('.delta')) {
      const { delta } = data;
      if (typeof delta !== 'string') return [];
      const grown = item.isAnnounced ? item.input : item.held;
      grown.add(delta);
      if (!item.isAnnounced) return [];
      this.grown = grown;
      return [withMembers(data, item.place)];
    }
    const whole = inputText(data[name]) || item.input.text || (name === 'arguments' ? '{}' : '');
    if (!item.isAnnounced) item.held.add(item.held.restOf(whole));
    if (!item.isAnnounced || item.hasEndedInput) return [];
    const rest = item.restOfInput(whole);
    item.hasEndedInput = true;
    return [...rest, withMembers(data, { ...item.place, [name]: whole })];
  }

  /** Handles events of tools that the vendor runs itself. */
  #hosted(type: string, data: ResponsesEvent): Events {
    const { item, events } = this.#known(type, data);
    return [...events, withMembers(data, item.place)];
  }
}

/** A call without its input, which follows: clients append deltas to the opening input. */
function withoutInput(item: ResponsesItem, known: StreamedItem): ResponsesItem {
  const name = inputMemberOf(known.type);
  if (name === undefined) return item;
  known.held.add(inputText(item[name]));
  return withMembers(item, { [name]: '' });
}
