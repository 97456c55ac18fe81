import { createHash } from 'node:crypto';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { RepeatedEvent } from '../../../canonical/repeated-event.ts';
import { normalizeInput } from '../../../canonical/stored-reasoning.ts';
import { asText, member, scalarNumber } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesDelta, MessagesEvent } from '../../../wire/messages.ts';
import { replaceEventData } from '../../contract/pass-through.ts';

type Index = JsonValue | undefined;

type Novelty = 'new' | 'repeat';

interface OpenCall {
  readonly id: string;
  readonly name: string;
  input: string;
  /** True if the start of the block has the complete input, which deltas only repeat. */
  readonly hasCompleteInput: boolean;
}

/** A call whose events are held back because a complete call has the same id and name. */
interface PossibleRepeat {
  readonly index: Index;
  readonly call: OpenCall;
  readonly events: StreamEvent[];
}

/**
 * Drops a call that repeats the id, name and input of a complete call. Its events are held back until the input is complete.
 * The blocks after a dropped call are renumbered.
 */
export class RepeatedBlocks {
  /** Digests of the inputs of complete calls, by call id and name. */
  readonly #completeInputs = new Map<string, Set<string>>();
  readonly #openCalls = new Map<Index, OpenCall>();
  #possibleRepeat: PossibleRepeat | undefined;
  readonly #droppedIndexes: number[] = [];
  readonly #deltaTemplate = new RepeatedEvent();
  #lastCall: OpenCall | undefined;

  get heldCharacters(): number {
    const inputs = this.#openCalls.values().reduce((sum, { input }) => sum + input.length, 0);
    return (this.#possibleRepeat?.events ?? []).reduce((sum, { text }) => sum + text.length, inputs);
  }

  /** Records a call of a non-streaming reply. */
  recordBlock(block: JsonObject): Novelty {
    return this.#recordCall(readCall(block));
  }

  /**
   * Returns the events that replace an event.
   *
   * @param type type of the event
   */
  replaceEvent(event: StreamEvent, type: JsonValue | undefined): readonly StreamEvent[] {
    switch (type) {
      case 'content_block_start':
        return this.#startBlock(event, event.parse() ?? {});
      case 'content_block_delta':
        if (this.#openCalls.size > 0) this.#readDelta(event);
        return this.#forward(event);
      case 'content_block_stop':
        return this.#openCalls.size > 0 ? this.#stopBlock(event) : this.#forward(event);
      case 'message_delta':
      case 'message_stop':
        return [...this.#resolveRepeat(), event];
      case 'error':
        return [...this.#releaseHeld(), event];
      default:
        return [event];
    }
  }

  #startBlock(event: StreamEvent, { index, content_block: block }: MessagesEvent): readonly StreamEvent[] {
    // Some vendors send the start of a block twice.
    const isOpen = isCall(block) && this.#openCalls.get(index)?.id === block['id'];
    if (!isCall(block) || isOpen) return this.#forward(event);
    const releasedEvents = this.#releaseHeld();
    const call = readCall(block);
    this.#openCalls.set(index, call);
    const mayRepeat = call.id !== '' && this.#completeInputs.has(callKey(call));
    if (!mayRepeat) return [...releasedEvents, this.#renumber(event)];
    this.#possibleRepeat = { index, call, events: [event] };
    return releasedEvents;
  }

  #readDelta(event: StreamEvent): void {
    const { name, data = '' } = event;
    const text = this.#deltaTemplate.read(name, data);
    if (text === undefined) {
      const { index, delta }: MessagesEvent = event.parse() ?? {};
      this.#lastCall = this.#openCalls.get(index);
      const input = asText(member<MessagesDelta>(delta, 'partial_json'));
      this.#deltaTemplate.learn(name, data, input, inputOfDelta);
      appendInput(this.#lastCall, input);
    } else appendInput(this.#lastCall, text);
  }

  #stopBlock(event: StreamEvent): readonly StreamEvent[] {
    const { index }: MessagesEvent = event.parse() ?? {};
    const call = this.#openCalls.get(index);
    this.#openCalls.delete(index);
    const possibleRepeat = this.#possibleRepeat;
    if (call === undefined || possibleRepeat?.call !== call) {
      const events = this.#forward(event);
      if (call !== undefined) this.#recordCall(call);
      return events;
    }
    possibleRepeat.events.push(event);
    return this.#resolveRepeat();
  }

  /** Returns the event, or holds it back if it belongs to the possible repeat. An event of another block shows that both are open. */
  #forward(event: StreamEvent): readonly StreamEvent[] {
    const possibleRepeat = this.#possibleRepeat;
    if (possibleRepeat === undefined) return [this.#renumber(event)];
    if (member<MessagesEvent>(event.parse(), 'index') === possibleRepeat.index) {
      possibleRepeat.events.push(event);
      return [];
    }
    return [...this.#releaseHeld(), this.#renumber(event)];
  }

  /** Returns the held events; empty if the call is a repeat. */
  #resolveRepeat(): readonly StreamEvent[] {
    const possibleRepeat = this.#possibleRepeat;
    if (possibleRepeat === undefined) return [];
    if (this.#recordCall(possibleRepeat.call) === 'new') return this.#releaseHeld();
    this.#possibleRepeat = undefined;
    if (typeof possibleRepeat.index === 'number') this.#droppedIndexes.push(possibleRepeat.index);
    return [];
  }

  #releaseHeld(): readonly StreamEvent[] {
    const events = this.#possibleRepeat?.events ?? [];
    this.#possibleRepeat = undefined;
    return events.map((event) => this.#renumber(event));
  }

  #recordCall(call: OpenCall): Novelty {
    if (call.id === '') return 'new';
    const inputs = this.#completeInputs.get(callKey(call)) ?? new Set();
    const digest = createHash('sha256').update(normalizeInput(call.input)).digest('base64');
    const novelty = inputs.has(digest) ? 'repeat' : 'new';
    this.#completeInputs.set(callKey(call), inputs.add(digest));
    return novelty;
  }

  /** Returns the event with the index that its block has after earlier blocks were dropped. */
  #renumber(event: StreamEvent): StreamEvent {
    if (this.#droppedIndexes.length === 0) return event;
    const body: MessagesEvent = event.parse() ?? {};
    const { index } = body;
    const droppedBefore =
      typeof index === 'number' ? this.#droppedIndexes.filter((droppedIndex) => droppedIndex < index).length : 0;
    return droppedBefore === 0
      ? event
      : replaceEventData(event, { ...body, index: scalarNumber(index) - droppedBefore });
  }
}

export function isCall(block: JsonValue | undefined): block is JsonObject {
  return member<MessagesBlock>(block, 'type') === 'tool_use';
}

function readCall({ id, name, input }: MessagesBlock): OpenCall {
  const hasCompleteInput = isJsonObject(input) && Object.keys(input).length > 0;
  return { id: asText(id), name: asText(name), input: hasCompleteInput ? JSON.stringify(input) : '', hasCompleteInput };
}

function appendInput(call: OpenCall | undefined, input: string): void {
  if (call?.hasCompleteInput === false) call.input += input;
}

function callKey({ id, name }: OpenCall): string {
  return `${id}\n${name}`;
}

function inputOfDelta({ delta }: MessagesEvent): JsonValue | undefined {
  return member<MessagesDelta>(delta, 'partial_json');
}
