import { bounds } from '#core/platform/bounds.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { CollectedText } from '#core/platform/memory/collected-text.ts';
import { findMissingEnd } from '../../../canonical/missing-end.ts';
import type { Editable } from '../../../wire/loose.ts';
import { asList, asFilledText, readMember, scalarToText } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';
import {
  digestInput,
  type VendorNames,
  inputMemberOf,
  readInputText,
  type ItemNames,
  toOpeningForm,
  repairItem,
  withMembers,
} from './repair-item.ts';
import { type TextPartKind, findPartKind, writeTextPart } from './text-parts.ts';

/** Names of the events that carry the input of a call, without `.delta` and `.done`, by item type. */
const inputEvents: Readonly<Record<string, string>> = {
  function_call: 'response.function_call_arguments',
  custom_tool_call: 'response.custom_tool_call_input',
};

/**
 * An item of a repaired stream, as the client has received it. The methods return missing events without sequence numbers.
 */
export class StreamedItem {
  readonly type: string;
  /** The vendor's id and index; undefined if missing. */
  readonly vendorNames: Pick<VendorNames, 'id' | 'index'>;
  names: ItemNames;
  /** The vendor's first id and name of the call, and the digest of its completed input; undefined until known. */
  firstCallId: string | undefined;
  name: string | undefined;
  inputDigest: string | undefined;
  /** The vendor's latest id of the call; undefined until known. Other calls may have the same id. */
  latestCallId: string | undefined;
  /** A finished call with the same id and name. This call is not announced until its input shows that it is not a repeat. */
  possibleOriginal: StreamedItem | undefined;
  /** Position in the client's output; undefined until the item is announced to the client. */
  index: number | undefined;
  /** The item in its opening form or, once it is done, in its final form. */
  item: ResponsesItem = {};
  isDone = false;
  readonly input = new GrowingText();
  /** Text that arrived before the item was announced to the client. */
  readonly heldInput = new GrowingText();
  hasEndedInput = false;
  citationCount = 0;
  readonly #parts: Record<TextPartKind['list'], StreamedPart[]> = { summary: [], content: [] };
  /** Parts by the upstream's index, which may have gaps. */
  readonly #partsByIndex: Partial<Record<TextPartKind['list'], Map<JsonValue | undefined, StreamedPart>>> = {};
  #location: ResponsesEvent = { item_id: '', output_index: undefined };

  constructor(type: string, vendorNames: Pick<VendorNames, 'id' | 'index'>, names: ItemNames) {
    this.type = type;
    this.vendorNames = vendorNames;
    this.names = names;
  }

  get isAnnounced(): boolean {
    return this.index !== undefined;
  }

  /** Members that identify the item in events. The same object is returned while they are unchanged. */
  get location(): ResponsesEvent {
    const { item_id: id, output_index: index } = this.#location;
    if (id !== this.names.id || index !== this.index)
      this.#location = { item_id: this.names.id, output_index: this.index };
    return this.#location;
  }

  /**
   * Creates the event that announces the item to the client.
   *
   * @param item opening form of the item, with any parts that it already has
   */
  announce(index: number, item: ResponsesItem): ResponsesEvent {
    this.index = index;
    this.item = item;
    for (const part of [...asList(item.summary), ...asList(item.content)]) {
      const kind = findPartKind(readMember<ResponsesPart>(part, 'type'));
      if (kind !== undefined)
        this.#addPart(kind).receivedText.add(scalarToText(readMember<ResponsesPart>(part, kind.member) ?? ''));
    }
    return { type: 'response.output_item.added', output_index: index, item };
  }

  /**
   * Finds the open part that an event belongs to.
   *
   * @param vendorIndex index in the event
   */
  findPart(kind: TextPartKind, vendorIndex: JsonValue | undefined): StreamedPart | undefined {
    const parts = this.#parts[kind.list];
    const part =
      typeof vendorIndex === 'number'
        ? (this.#partsByIndex[kind.list]?.get(vendorIndex) ?? parts[vendorIndex])
        : parts.at(-1);
    return part?.kind === kind && !part.isClosed ? part : undefined;
  }

  openPart(kind: TextPartKind, vendorIndex?: JsonValue): StreamedPart {
    const part = this.#addPart(kind);
    if (typeof vendorIndex === 'number') (this.#partsByIndex[kind.list] ??= new Map()).set(vendorIndex, part);
    return part;
  }

  /** Returns the event with the end of an input that the client lacks. An input that differs from the client's input is ignored. */
  completeInput(completeText: string): ResponsesEvent[] {
    const remainder = this.input.findMissingEnd(completeText);
    this.input.add(remainder);
    return remainder === '' ? [] : [{ type: `${inputEvents[this.type]}.delta`, ...this.location, delta: remainder }];
  }

  /**
   * Brings the item into its final form and returns the events that precede its `done` event.
   *
   * @param vendorItem final form from the upstream; undefined if the upstream did not finish the item
   * @param nextIndex returns the position of an item that has not been announced
   */
  finish(vendorItem: ResponsesItem | undefined, status: string, nextIndex: () => number): ResponsesEvent[] {
    const item = repairItem(this.#fillContent(vendorItem ?? { ...this.item, status }), this.names, status);
    const events: ResponsesEvent[] = [];
    if (!this.isAnnounced) events.push(this.announce(nextIndex(), toOpeningForm(item)));
    for (const list of ['summary', 'content'] as const) events.push(...this.#completeParts(list, item[list]));
    for (const part of [...this.#parts.summary, ...this.#parts.content]) events.push(...part.close(this.location));
    const input = inputMemberOf(this.type);
    if (input !== undefined) events.push(...this.#endInput(readInputText(item[input]), input, item));
    this.item = item;
    this.#parts.summary = [];
    this.#parts.content = [];
    this.markDone(item);
    return events;
  }

  /** @param item final form of the item */
  markDone(item: ResponsesItem): void {
    this.isDone = true;
    this.name ??= asFilledText(item.name);
    this.inputDigest = digestInput(item as JsonObject);
  }

  /** Writes the item with the content so far. */
  writePartial(): ResponsesItem {
    return this.#fillContent({ ...toOpeningForm(this.item), status: 'incomplete' });
  }

  #addPart(kind: TextPartKind): StreamedPart {
    const parts = this.#parts[kind.list];
    const part = new StreamedPart(kind, parts.length);
    parts.push(part);
    return part;
  }

  /** Writes the parts and texts that the client lacks, up to the first part that differs. */
  #completeParts(list: TextPartKind['list'], parts: JsonValue | undefined): ResponsesEvent[] {
    const events: ResponsesEvent[] = [];
    const isCited = this.citationCount > 0;
    // Parts of reasoning may lack their type.
    const reasoningType = list === 'summary' ? 'summary_text' : 'reasoning_text';
    const defaultType = this.type === 'reasoning' ? reasoningType : undefined;
    for (const [index, part] of asList(parts).entries()) {
      const kind = findPartKind(readMember<ResponsesPart>(part, 'type') ?? defaultType);
      const text = kind === undefined ? '' : readInputText(readMember<ResponsesPart>(part, kind.member));
      const streamed = this.#parts[list][index];
      if (kind === undefined) continue;
      if (streamed !== undefined && !streamed.receivedText.isPrefixOf(text)) break;
      // Some vendors stream reasoning as one kind and repeat it as the other.
      if (streamed === undefined && this.type === 'reasoning' && this.#hasStreamed(text)) break;
      const openPart = streamed ?? this.#addPart(kind);
      if (streamed === undefined) events.push(openPart.writeAdded(this.location));
      events.push(...openPart.completeText(this.location, text, readMember<ResponsesPart>(part, 'logprobs')));
      if (streamed === undefined && !isCited)
        events.push(...this.#writeCitations(openPart, readMember<ResponsesPart>(part, 'annotations')));
    }
    return events;
  }

  #writeCitations(part: StreamedPart, annotations: JsonValue | undefined): ResponsesEvent[] {
    return asList(annotations).map((annotation) => ({
      type: 'response.output_text.annotation.added',
      ...part.locate(this.location),
      annotation_index: this.citationCount++,
      annotation,
    }));
  }

  #hasStreamed(text: string): boolean {
    return [...this.#parts.summary, ...this.#parts.content].some(
      (part) => findMissingEnd(text, part.receivedText.text) === '',
    );
  }

  #endInput(completeText: string, input: 'arguments' | 'input', item: ResponsesItem): ResponsesEvent[] {
    const remainder = this.completeInput(completeText);
    if (this.hasEndedInput) return remainder;
    this.hasEndedInput = true;
    const name = this.type === 'function_call' ? { name: item.name } : {};
    return [...remainder, { type: `${inputEvents[this.type]}.done`, ...this.location, ...name, [input]: completeText }];
  }

  /** Returns the item. Missing content is filled from the events. */
  #fillContent(item: ResponsesItem): ResponsesItem {
    const filled: Editable<ResponsesItem> = {};
    for (const list of ['summary', 'content'] as const) {
      const parts = this.#parts[list];
      if (parts.length > 0 && isEmpty(item[list])) filled[list] = parts.map((part) => part.write());
    }
    const name = inputMemberOf(this.type);
    const input = this.input.text || this.heldInput.text;
    if (name !== undefined && input !== '' && readInputText(item[name]) === '') filled[name] = input;
    return withMembers(item, filled);
  }
}

function isEmpty(list: JsonValue | undefined): boolean {
  return list === undefined || list === null || list === '' || (Array.isArray(list) && list.length === 0);
}

/** Annotations of a part that are kept until it ends. */
const maxAnnotations = 1_000;

/** A text part as the client has received it. The methods return events without sequence numbers. */
export class StreamedPart {
  readonly kind: TextPartKind;
  readonly index: number;
  readonly receivedText = new GrowingText();
  readonly #annotations: JsonValue[] = [];
  /** True once the client has the whole text. */
  hasEndedText = false;
  isClosed = false;
  #item: ResponsesEvent | undefined;
  #location: ResponsesEvent = {};

  constructor(kind: TextPartKind, index: number) {
    this.kind = kind;
    this.index = index;
  }

  /** @param item members that identify the item */
  locate(item: ResponsesEvent): ResponsesEvent {
    if (item !== this.#item) this.#location = { ...item, [this.kind.index]: this.index };
    this.#item = item;
    return this.#location;
  }

  writeAdded(item: ResponsesEvent): ResponsesEvent {
    return { type: `${this.kind.partEvents}.added`, ...this.locate(item), part: this.write('') };
  }

  /**
   * Returns the event with the end of a text that the client lacks. A text that differs from the client's text is ignored.
   *
   * @param logprobs log probabilities of the complete text
   */
  completeText(item: ResponsesEvent, text: string, logprobs?: JsonValue): ResponsesEvent[] {
    const remainder = this.receivedText.findMissingEnd(text);
    if (remainder === '' || this.hasEndedText) return [];
    this.receivedText.add(remainder);
    return [this.#writeTextEvent('delta', item, 'delta', remainder, remainder === text ? logprobs : undefined)];
  }

  endText(item: ResponsesEvent): ResponsesEvent[] {
    if (this.hasEndedText) return [];
    this.hasEndedText = true;
    return [this.#writeTextEvent('done', item, this.kind.member, this.receivedText.text)];
  }

  #writeTextEvent(
    end: 'delta' | 'done',
    item: ResponsesEvent,
    name: 'delta' | TextPartKind['member'],
    text: string,
    logprobs?: JsonValue,
  ): ResponsesEvent {
    const event: Editable<ResponsesEvent> = { type: `${this.kind.events}.${end}`, ...this.locate(item) };
    event[name] = text;
    if (this.kind.type === 'output_text') event.logprobs = [...asList(logprobs)];
    return event;
  }

  close(item: ResponsesEvent): ResponsesEvent[] {
    if (this.isClosed) return [];
    const textEnd = this.endText(item);
    this.isClosed = true;
    return [...textEnd, { type: `${this.kind.partEvents}.done`, ...this.locate(item), part: this.write() }];
  }

  addAnnotation(annotation: JsonValue): void {
    if (this.#annotations.length < maxAnnotations) this.#annotations.push(annotation);
  }

  write(text: string = this.receivedText.text): ResponsesPart {
    const part = writeTextPart(this.kind, text);
    return this.#annotations.length === 0 ? part : { ...part, annotations: [...this.#annotations] };
  }
}

/** A text that arrives in deltas. Deltas after `bounds.translatedReply` characters are not kept. */
export class GrowingText {
  readonly #collected = new CollectedText();

  get text(): string {
    return this.#collected.text;
  }

  add(delta: string): void {
    if (this.#collected.length < bounds.translatedReply) this.#collected.add(delta);
  }

  /** Returns true if a complete text starts with the text so far, ignoring white space. */
  isPrefixOf(completeText: string): boolean {
    return findMissingEnd(completeText, this.text) !== undefined;
  }

  /** Returns the end that the text so far lacks; empty if the complete text does not start with it. */
  findMissingEnd(completeText: string): string {
    return findMissingEnd(completeText, this.text) ?? '';
  }
}
