import { bounds } from '#core/platform/bounds.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
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

const noNames = { id: undefined, index: undefined };

/**
 * An item of a stream as sent to the client. The methods return the client's events, without sequence numbers: either the upstream's event
 * with the client's members, or one that the upstream has not sent.
 */
export class StreamedItem {
  readonly type: string;
  readonly vendorNames: Pick<VendorNames, 'id' | 'index'>;
  names: ItemNames;
  /** The vendor's first id and name for the call, and the digest of its completed input; undefined until known. */
  firstCallId: string | undefined;
  name: string | undefined;
  inputDigest: string | undefined;
  /** The vendor's latest id for the call; undefined until known. Other calls may have the same id. */
  latestCallId: string | undefined;
  /** A finished call with the same id and name. This one is not announced until its input shows that it is not a repetition. */
  possibleOriginal: StreamedItem | undefined;
  /** Position in the client's output; undefined until the item is announced. */
  index: number | undefined;
  /** The item as it opened or, once it is done, in its final form. */
  item: ResponsesItem = {};
  isDone = false;
  readonly input = new GrowingText();
  /** Text that arrived before the item was announced to the client. */
  readonly heldInput = new GrowingText();
  hasEndedInput = false;
  #citationCount = 0;
  readonly #nextIndex: () => number;
  readonly #parts: Record<TextPartKind['list'], StreamedPart[]> = { summary: [], content: [] };
  /** Parts by the upstream's indexes, which may have gaps. */
  readonly #partsByIndex: Partial<Record<TextPartKind['list'], Map<JsonValue | undefined, StreamedPart>>> = {};
  #location: ResponsesEvent = { item_id: '', output_index: undefined };

  /** @param nextIndex returns the item's position once it is announced */
  constructor(
    type: string,
    names: ItemNames,
    nextIndex: () => number,
    vendorNames: StreamedItem['vendorNames'] = noNames,
  ) {
    this.type = type;
    this.names = names;
    this.#nextIndex = nextIndex;
    this.vendorNames = vendorNames;
  }

  get isAnnounced(): boolean {
    return this.index !== undefined;
  }

  /** The members that identify the item in events. The object stays the same until one of them changes. */
  get location(): ResponsesEvent {
    const { item_id: id, output_index: index } = this.#location;
    if (id !== this.names.id || index !== this.index)
      this.#location = { item_id: this.names.id, output_index: this.index };
    return this.#location;
  }

  /** @param item the item as it opens, with any parts that it already has */
  announce(item: ResponsesItem, vendorEvent?: ResponsesEvent): ResponsesEvent {
    this.index = this.#nextIndex();
    this.item = item;
    for (const part of [...asList(item.summary), ...asList(item.content)]) {
      const kind = findPartKind(readMember<ResponsesPart>(part, 'type'));
      if (kind !== undefined)
        this.openPart(kind).receivedText.add(scalarToText(readMember<ResponsesPart>(part, kind.member) ?? ''));
    }
    return writeEvent('response.output_item.added', { output_index: this.index, item }, vendorEvent);
  }

  findPart(kind: TextPartKind, vendorIndex: JsonValue | undefined): StreamedPart | undefined {
    const parts = this.#parts[kind.list];
    const part =
      typeof vendorIndex === 'number'
        ? (this.#partsByIndex[kind.list]?.get(vendorIndex) ?? parts[vendorIndex])
        : parts.at(-1);
    return part?.kind === kind && !part.isClosed ? part : undefined;
  }

  openPart(kind: TextPartKind, vendorIndex?: JsonValue): StreamedPart {
    const parts = this.#parts[kind.list];
    const part = new StreamedPart(this, kind, parts.length);
    parts.push(part);
    if (typeof vendorIndex === 'number') (this.#partsByIndex[kind.list] ??= new Map()).set(vendorIndex, part);
    return part;
  }

  addCitation(part: StreamedPart, annotation: JsonValue | undefined, vendorEvent?: ResponsesEvent): ResponsesEvent {
    if (annotation !== undefined) part.addAnnotation(annotation);
    const vendorIndex = vendorEvent?.annotation_index;
    const annotation_index = typeof vendorIndex === 'number' ? vendorIndex : this.#citationCount;
    this.#citationCount = annotation_index + 1;
    const members = { ...part.location, annotation_index, annotation };
    return writeEvent('response.output_text.annotation.added', members, vendorEvent);
  }

  appendInput(delta: string, vendorEvent?: ResponsesEvent): ResponsesEvent {
    this.input.add(delta);
    if (vendorEvent !== undefined) return withMembers(vendorEvent, this.location);
    return { type: `${this.#inputEvents}.delta`, ...this.location, delta };
  }

  /** A complete input that differs from the client's adds nothing to it. */
  endInput(completeText: string, name: JsonValue | undefined, vendorEvent?: ResponsesEvent): ResponsesEvent[] {
    const remainder = this.input.findMissingEnd(completeText);
    const events = remainder === '' ? [] : [this.appendInput(remainder)];
    if (this.hasEndedInput) return events;
    this.hasEndedInput = true;
    const isNamed = this.type === 'function_call' && vendorEvent === undefined;
    const input = { ...(isNamed && { name }), [inputMemberOf(this.type) ?? 'input']: completeText };
    return [...events, writeEvent(`${this.#inputEvents}.done`, { ...this.location, ...input }, vendorEvent)];
  }

  /** Names of the input's events, without `.delta` and `.done`. */
  get #inputEvents(): string {
    return `response.${this.type}_${inputMemberOf(this.type)}`;
  }

  /** @param vendorItem the upstream's final form; undefined if it did not finish the item */
  finish(vendorItem: ResponsesItem | undefined, status: string, vendorEvent?: ResponsesEvent): ResponsesEvent[] {
    const item = repairItem(this.#fillContent(vendorItem ?? { ...this.item, status }), this.names, status);
    const events: ResponsesEvent[] = [];
    if (!this.isAnnounced) events.push(this.announce(toOpeningForm(item)));
    for (const list of ['summary', 'content'] as const) events.push(...this.#completeParts(list, item[list]));
    for (const part of [...this.#parts.summary, ...this.#parts.content])
      if (!part.isClosed) events.push(...part.close());
    const input = inputMemberOf(this.type);
    if (input !== undefined) events.push(...this.endInput(readInputText(item[input]), item.name));
    this.item = item;
    this.#parts.summary = [];
    this.#parts.content = [];
    this.markDone(item);
    events.push(writeEvent('response.output_item.done', { output_index: this.index, item }, vendorEvent));
    return events;
  }

  markDone(item: ResponsesItem): void {
    this.isDone = true;
    this.name ??= asFilledText(item.name);
    this.inputDigest = digestInput(item);
  }

  writePartial(): ResponsesItem {
    return this.#fillContent({ ...toOpeningForm(this.item), status: 'incomplete' });
  }

  /** Stops at the first part that differs from what the client has. */
  #completeParts(list: TextPartKind['list'], parts: JsonValue | undefined): ResponsesEvent[] {
    const events: ResponsesEvent[] = [];
    const isCited = this.#citationCount > 0;
    // Reasoning parts may lack their type.
    const reasoningType = list === 'summary' ? 'summary_text' : 'reasoning_text';
    const defaultType = this.type === 'reasoning' ? reasoningType : undefined;
    for (const [index, part] of asList(parts).entries()) {
      const kind = findPartKind(readMember<ResponsesPart>(part, 'type') ?? defaultType);
      const text = kind === undefined ? '' : readInputText(readMember<ResponsesPart>(part, kind.member));
      const streamed = this.#parts[list][index];
      if (kind === undefined) continue;
      if (streamed !== undefined && !streamed.receivedText.isPrefixOf(text)) break;
      // Some vendors stream reasoning as one kind of part and repeat it as the other.
      if (streamed === undefined && this.type === 'reasoning' && this.#hasStreamed(text)) break;
      const openPart = streamed ?? this.openPart(kind);
      if (streamed === undefined) events.push(openPart.open());
      events.push(...openPart.completeText(text, readMember<ResponsesPart>(part, 'logprobs')));
      if (streamed !== undefined || isCited) continue;
      for (const annotation of asList(readMember<ResponsesPart>(part, 'annotations')))
        events.push(this.addCitation(openPart, annotation));
    }
    return events;
  }

  #hasStreamed(text: string): boolean {
    return [...this.#parts.summary, ...this.#parts.content].some(
      (part) => findMissingEnd(text, part.receivedText.text) === '',
    );
  }

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

function writeEvent(type: string, members: ResponsesEvent, vendorEvent: ResponsesEvent | undefined): ResponsesEvent {
  return vendorEvent === undefined ? { type, ...members } : withMembers(vendorEvent, members);
}

const maxAnnotations = 1_000; // per part

/** A text part as sent to the client. The methods return the client's events, as in `StreamedItem`. */
export class StreamedPart {
  readonly item: StreamedItem;
  readonly kind: TextPartKind;
  readonly receivedText = new GrowingText();
  readonly #index: number;
  readonly #annotations: JsonValue[] = [];
  #hasEndedText = false;
  isClosed = false;
  #itemLocation: ResponsesEvent | undefined;
  #location: ResponsesEvent = {};

  constructor(item: StreamedItem, kind: TextPartKind, index: number) {
    this.item = item;
    this.kind = kind;
    this.#index = index;
  }

  /** The members that identify the part in events. The object stays the same until one of them changes. */
  get location(): ResponsesEvent {
    const { location } = this.item;
    if (location !== this.#itemLocation) this.#location = { ...location, [this.kind.index]: this.#index };
    this.#itemLocation = location;
    return this.#location;
  }

  open(vendorPart?: JsonValue, vendorEvent?: ResponsesEvent): ResponsesEvent {
    const part: ResponsesPart = isJsonObject(vendorPart) ? vendorPart : this.write();
    this.receivedText.add(readInputText(part[this.kind.member]));
    return writeEvent(`${this.kind.partEvents}.added`, { ...this.location, part }, vendorEvent);
  }

  /** @param logprobs the delta's log probabilities, if the upstream has not sent the event */
  append(delta: string, logprobs?: JsonValue, vendorEvent?: ResponsesEvent): ResponsesEvent {
    this.receivedText.add(delta);
    if (vendorEvent !== undefined) return withMembers(vendorEvent, this.location);
    const event: Editable<ResponsesEvent> = { type: `${this.kind.events}.delta`, ...this.location, delta };
    return this.#addLogprobs(event, logprobs);
  }

  /** Ignores a text that differs from the client's. `logprobs` are those of the complete text. */
  completeText(text: string, logprobs?: JsonValue): ResponsesEvent[] {
    const remainder = this.receivedText.findMissingEnd(text);
    if (remainder === '' || this.#hasEndedText) return [];
    return [this.append(remainder, remainder === text ? logprobs : undefined)];
  }

  /** @param complete holds the complete text, if the upstream repeats it, and its log probabilities */
  endText(complete: ResponsesPart & ResponsesEvent = {}, vendorEvent?: ResponsesEvent): ResponsesEvent[] {
    if (this.#hasEndedText) return [];
    const { member, events } = this.kind;
    const completeText = complete[member];
    const isText = typeof completeText === 'string';
    const remainder = isText ? this.completeText(completeText, complete.logprobs) : [];
    this.#hasEndedText = true;
    const members: ResponsesEvent = { ...this.location, [member]: isText ? completeText : this.receivedText.text };
    const event = writeEvent(`${events}.done`, members, vendorEvent);
    return [...remainder, vendorEvent === undefined ? this.#addLogprobs(event, complete.logprobs) : event];
  }

  /** Ends the part and, if the upstream has not done so, its text. */
  close(vendorPart?: JsonValue, vendorEvent?: ResponsesEvent): ResponsesEvent[] {
    const vendorMembers: ResponsesPart = isJsonObject(vendorPart) ? vendorPart : {};
    const { member, partEvents } = this.kind;
    const completeText = vendorMembers[member];
    const isText = typeof completeText === 'string';
    const textEnd = [...(isText ? this.completeText(completeText) : []), ...this.endText()];
    this.isClosed = true;
    const part = isText ? vendorMembers : { ...this.write(), ...vendorMembers, [member]: this.receivedText.text };
    return [...textEnd, writeEvent(`${partEvents}.done`, { ...this.location, part }, vendorEvent)];
  }

  #addLogprobs(event: Editable<ResponsesEvent>, logprobs: JsonValue | undefined): ResponsesEvent {
    if (this.kind.type === 'output_text') event.logprobs = Array.isArray(logprobs) ? logprobs : [];
    return event;
  }

  addAnnotation(annotation: JsonValue): void {
    if (this.#annotations.length < maxAnnotations) this.#annotations.push(annotation);
  }

  write(): ResponsesPart {
    const part = writeTextPart(this.kind, this.receivedText.text);
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

  /** Ignores white space. */
  isPrefixOf(completeText: string): boolean {
    return findMissingEnd(completeText, this.text) !== undefined;
  }

  /** Returns an empty text if the complete text does not start with the text so far. */
  findMissingEnd(completeText: string): string {
    return findMissingEnd(completeText, this.text) ?? '';
  }
}
