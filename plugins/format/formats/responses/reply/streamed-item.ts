import { CollectedText } from '#core/platform/memory/collected-text.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { missingEnd } from '../../../canonical/missing-end.ts';
import { type StreamedText, textPartOf, writeTextPart } from './text-parts.ts';
import {
  digestOfInput,
  type GivenNames,
  inputMemberOf,
  inputText,
  type ItemNames,
  openItem,
  repairItem,
  withMembers,
} from './repair-item.ts';
import { asList, filledText, member, scalarText } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';
import type { Editable } from '../../../wire/loose.ts';
import { bounds } from '#core/platform/bounds.ts';

/** GivenNames of the events that carry the input of a call, without `.delta` and `.done`. */
const inputEvents: Readonly<Record<string, string>> = {
  function_call: 'response.function_call_arguments',
  custom_tool_call: 'response.custom_tool_call_input',
};

/**
 * An item of a repaired stream, as the client has received it. Its methods return the missing events, without their numbers.
 */
export class StreamedItem {
  readonly type: string;
  /** The vendor's id and index; undefined if not given. */
  readonly given: Pick<GivenNames, 'id' | 'index'>;
  names: ItemNames;
  /** The vendor's first id and name of the call, and the digest of its input once it is done; undefined until known. */
  call: string | undefined;
  name: string | undefined;
  digest: string | undefined;
  /** The vendor's id of the call; undefined until known. Other calls may have the same id. */
  givenCallId: string | undefined;
  /** A finished call with the same id and name. This call is not announced until its input shows that it is a different call. */
  twin: StreamedItem | undefined;
  /** Position in the client's output; undefined until the item is announced to the client. */
  index: number | undefined;
  /** The item as it opened or, later, as it was finished. */
  item: ResponsesItem = {};
  isDone = false;
  readonly input = new GrowingText(['"item_id"', '"output_index"']);
  /** Text that arrived before the item was announced to the client. */
  readonly held = new GrowingText([]);
  hasEndedInput = false;
  citations = 0;
  readonly #parts: Record<StreamedText['list'], StreamedPart[]> = { summary: [], content: [] };
  /** Parts by the upstream's index, which may have gaps. */
  readonly #byPlace: Partial<Record<StreamedText['list'], Map<JsonValue | undefined, StreamedPart>>> = {};
  #place: ResponsesEvent = { item_id: '', output_index: undefined };

  constructor(type: string, given: Pick<GivenNames, 'id' | 'index'>, names: ItemNames) {
    this.type = type;
    this.given = given;
    this.names = names;
  }

  get isAnnounced(): boolean {
    return this.index !== undefined;
  }

  /** The members that identify the item in events; the same object while they are the same. */
  get place(): ResponsesEvent {
    const { item_id: id, output_index: index } = this.#place;
    if (id !== this.names.id || index !== this.index)
      this.#place = { item_id: this.names.id, output_index: this.index };
    return this.#place;
  }

  /** @param item opening form of the item, with any parts that it already has */
  announce(index: number, item: ResponsesItem): ResponsesEvent {
    this.index = index;
    this.item = item;
    for (const part of [...asList(item.summary), ...asList(item.content)]) {
      const kind = textPartOf(member<ResponsesPart>(part, 'type'));
      if (kind !== undefined) this.#add(kind).grown.add(scalarText(member<ResponsesPart>(part, kind.member) ?? ''));
    }
    return { type: 'response.output_item.added', output_index: index, item };
  }

  /**
   * The part to which an event belongs.
   *
   * @param given index in the event
   */
  findPart(kind: StreamedText, given: JsonValue | undefined): StreamedPart | undefined {
    const parts = this.#parts[kind.list];
    const known = typeof given === 'number' ? (this.#byPlace[kind.list]?.get(given) ?? parts[given]) : parts.at(-1);
    return known?.kind === kind && !known.isClosed ? known : undefined;
  }

  openPart(kind: StreamedText, given?: JsonValue): StreamedPart {
    const part = this.#add(kind);
    if (typeof given === 'number') (this.#byPlace[kind.list] ??= new Map()).set(given, part);
    return part;
  }

  /** The remainder of an input. An input that differs from the client's input is ignored. */
  restOfInput(whole: string): ResponsesEvent[] {
    const rest = this.input.restOf(whole);
    this.input.add(rest);
    return rest === '' ? [] : [{ type: `${inputEvents[this.type]}.delta`, ...this.place, delta: rest }];
  }

  /**
   * Brings the item into its final form and returns the events that precede its `done` event.
   *
   * @param given final form from the upstream; undefined if the upstream did not finish the item
   * @param nextIndex returns the position for an item that the client does not know yet
   */
  finish(given: ResponsesItem | undefined, status: string, nextIndex: () => number): ResponsesEvent[] {
    const item = repairItem(this.#filled(given ?? { ...this.item, status }), this.names, status);
    const events: ResponsesEvent[] = [];
    if (!this.isAnnounced) events.push(this.announce(nextIndex(), openItem(item)));
    for (const list of ['summary', 'content'] as const) events.push(...this.#completeParts(list, item[list]));
    for (const part of [...this.#parts.summary, ...this.#parts.content]) events.push(...part.close(this.place));
    const input = inputMemberOf(this.type);
    if (input !== undefined) events.push(...this.#endInput(inputText(item[input]), input, item));
    this.item = item;
    this.#parts.summary = [];
    this.#parts.content = [];
    this.end(item);
    return events;
  }

  /** @param item final form of the item */
  end(item: ResponsesItem): void {
    this.isDone = true;
    this.name ??= filledText(item.name);
    this.digest = digestOfInput(item as JsonObject);
  }

  /** The item with the content received so far. */
  partial(): ResponsesItem {
    return this.#filled({ ...openItem(this.item), status: 'incomplete' });
  }

  #add(kind: StreamedText): StreamedPart {
    const parts = this.#parts[kind.list];
    const part = new StreamedPart(kind, parts.length);
    parts.push(part);
    return part;
  }

  /** Completes the parts with text that the client lacks, up to the first part that differs. */
  #completeParts(list: StreamedText['list'], parts: JsonValue | undefined): ResponsesEvent[] {
    const events: ResponsesEvent[] = [];
    const isCited = this.citations > 0;
    // Parts of reasoning may lack their type.
    const reasoningType = list === 'summary' ? 'summary_text' : 'reasoning_text';
    const defaultType = this.type === 'reasoning' ? reasoningType : undefined;
    for (const [index, part] of asList(parts).entries()) {
      const kind = textPartOf(member<ResponsesPart>(part, 'type') ?? defaultType);
      const text = kind === undefined ? '' : inputText(member<ResponsesPart>(part, kind.member));
      const streamed = this.#parts[list][index];
      if (kind === undefined) continue;
      if (streamed !== undefined && !streamed.grown.begins(text)) break;
      // Some vendors stream reasoning as one kind and repeat it as the other.
      if (streamed === undefined && this.type === 'reasoning' && this.#hasStreamed(text)) break;
      const open = streamed ?? this.#add(kind);
      if (streamed === undefined) events.push(open.added(this.place));
      events.push(...open.rest(this.place, text, member<ResponsesPart>(part, 'logprobs')));
      if (streamed === undefined && !isCited)
        events.push(...this.#cite(open, member<ResponsesPart>(part, 'annotations')));
    }
    return events;
  }

  #cite(part: StreamedPart, annotations: JsonValue | undefined): ResponsesEvent[] {
    return asList(annotations).map((annotation) => ({
      type: 'response.output_text.annotation.added',
      ...part.place(this.place),
      annotation_index: this.citations++,
      annotation,
    }));
  }

  #hasStreamed(text: string): boolean {
    return [...this.#parts.summary, ...this.#parts.content].some((part) => missingEnd(text, part.grown.text) === '');
  }

  #endInput(whole: string, input: 'arguments' | 'input', item: ResponsesItem): ResponsesEvent[] {
    const rest = this.restOfInput(whole);
    if (this.hasEndedInput) return rest;
    this.hasEndedInput = true;
    const name = this.type === 'function_call' ? { name: item.name } : {};
    return [...rest, { type: `${inputEvents[this.type]}.done`, ...this.place, ...name, [input]: whole }];
  }

  /** The item; content that it lacks is filled from its events. */
  #filled(item: ResponsesItem): ResponsesItem {
    const filled: Editable<ResponsesItem> = {};
    for (const list of ['summary', 'content'] as const) {
      const streamed = this.#parts[list];
      if (streamed.length > 0 && isEmpty(item[list])) filled[list] = streamed.map((part) => part.write());
    }
    const name = inputMemberOf(this.type);
    const input = this.input.text || this.held.text;
    if (name !== undefined && input !== '' && inputText(item[name]) === '') filled[name] = input;
    return withMembers(item, filled);
  }
}

function isEmpty(list: JsonValue | undefined): boolean {
  return list === undefined || list === null || list === '' || (Array.isArray(list) && list.length === 0);
}

/** A text part as the client has received it. Its methods return events without their numbers. */
export class StreamedPart {
  readonly kind: StreamedText;
  readonly index: number;
  readonly grown: GrowingText;
  /** True once the client has the whole text. */
  hasEndedText = false;
  isClosed = false;
  #item: ResponsesEvent | undefined;
  #place: ResponsesEvent = {};

  constructor(kind: StreamedText, index: number) {
    this.kind = kind;
    this.index = index;
    this.grown = new GrowingText(['"item_id"', '"output_index"', `"${kind.index}"`]);
  }

  /** @param item members that identify the item */
  place(item: ResponsesEvent): ResponsesEvent {
    if (item !== this.#item) this.#place = { ...item, [this.kind.index]: this.index };
    this.#item = item;
    return this.#place;
  }

  added(item: ResponsesEvent): ResponsesEvent {
    return { type: `${this.kind.partEvents}.added`, ...this.place(item), part: this.write('') };
  }

  /**
   * The remainder of a text. A text that differs from the client's text is ignored.
   *
   * @param tokens log probabilities of the whole text
   */
  rest(item: ResponsesEvent, whole: string, tokens?: JsonValue): ResponsesEvent[] {
    const rest = this.grown.restOf(whole);
    if (rest === '' || this.hasEndedText) return [];
    this.grown.add(rest);
    return [this.#textEvent('delta', item, 'delta', rest, rest === whole ? tokens : undefined)];
  }

  endText(item: ResponsesEvent): ResponsesEvent[] {
    if (this.hasEndedText) return [];
    this.hasEndedText = true;
    return [this.#textEvent('done', item, this.kind.member, this.grown.text)];
  }

  #textEvent(
    end: 'delta' | 'done',
    item: ResponsesEvent,
    name: 'delta' | StreamedText['member'],
    text: string,
    tokens?: JsonValue,
  ): ResponsesEvent {
    const event: Editable<ResponsesEvent> = { type: `${this.kind.events}.${end}`, ...this.place(item) };
    event[name] = text;
    if (this.kind.type === 'output_text') event.logprobs = [...asList(tokens)];
    return event;
  }

  close(item: ResponsesEvent): ResponsesEvent[] {
    if (this.isClosed) return [];
    const ended = this.endText(item);
    this.isClosed = true;
    return [...ended, { type: `${this.kind.partEvents}.done`, ...this.place(item), part: this.write() }];
  }

  write(text: string = this.grown.text): ResponsesPart {
    return writeTextPart(this.kind, text);
  }
}

/** A text that arrives in deltas. Text over `bounds.translatedReply` characters is not kept. */
export class GrowingText {
  /** The quoted members that locate the text in its deltas. */
  readonly names: readonly string[];
  readonly #collected = new CollectedText();

  constructor(names: readonly string[]) {
    this.names = names;
  }

  get text(): string {
    return this.#collected.text;
  }

  add(delta: string): void {
    if (this.#collected.length < bounds.translatedReply) this.#collected.add(delta);
  }

  /** True if the whole text begins with the text so far, ignoring white space. */
  begins(whole: string): boolean {
    return missingEnd(whole, this.text) !== undefined;
  }

  /** The missing end of the whole text; empty if the text so far is a different text. */
  restOf(whole: string): string {
    return missingEnd(whole, this.text) ?? '';
  }
}
