import { createHash } from 'node:crypto';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { canonicalInput } from '../../../canonical/kept-reasoning.ts';
import { RepeatedEvent } from '../../../canonical/repeated-event.ts';
import { asText, member, scalarNumber } from '../../../wire/members.ts';
import { replaceEventData } from '../../contract/pass-through.ts';
import type { MessagesBlock, MessagesDelta, MessagesEvent } from '../../../wire/messages.ts';

type Index = JsonValue | undefined;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  input: string;
  /** True if the start of the block has the whole input, which deltas only repeat. */
  readonly isGiven: boolean;
}

/** A call whose events are held back because a complete call has the same id and name. */
interface DoubtfulCall {
  readonly index: Index;
  readonly call: OpenCall;
  readonly events: StreamEvent[];
}

/**
 * Drops a call that repeats the id, name and input of a complete call. Its events are held back until the input is known; the blocks
 * after a dropped call move up.
 */
export class RepeatedBlocks {
  /** Digests of the inputs of complete calls, by call id and name. */
  readonly #complete = new Map<string, Set<string>>();
  readonly #open = new Map<Index, OpenCall>();
  #doubtful: DoubtfulCall | undefined;
  readonly #dropped: number[] = [];
  readonly #deltas = new RepeatedEvent();
  #last: OpenCall | undefined;

  get held(): number {
    const inputs = this.#open.values().reduce((sum, { input }) => sum + input.length, 0);
    return (this.#doubtful?.events ?? []).reduce((sum, { text }) => sum + text.length, inputs);
  }

  /** True for a block of a whole answer that repeats an earlier block. */
  repeats(block: JsonObject): boolean {
    return this.#isKnown(callIn(block));
  }

  /**
   * The events that replace an event.
   *
   * @param type type of the event
   */
  event(event: StreamEvent, type: JsonValue | undefined): readonly StreamEvent[] {
    switch (type) {
      case 'content_block_start':
        return this.#start(event, event.parse() ?? {});
      case 'content_block_delta':
        if (this.#open.size > 0) this.#delta(event);
        return this.#passed(event);
      case 'content_block_stop':
        return this.#open.size > 0 ? this.#stop(event) : this.#passed(event);
      case 'message_delta':
      case 'message_stop':
        return [...this.#settle(), event];
      case 'error':
        return [...this.#release(), event];
      default:
        return [event];
    }
  }

  #start(event: StreamEvent, { index, content_block: block }: MessagesEvent): readonly StreamEvent[] {
    // Some vendors send the start of a block twice.
    const isOpen = isCall(block) && this.#open.get(index)?.id === block['id'];
    if (!isCall(block) || isOpen) return this.#passed(event);
    const before = this.#release();
    const call = callIn(block);
    this.#open.set(index, call);
    const isDoubtful = call.id !== '' && this.#complete.has(nameOf(call));
    if (!isDoubtful) return [...before, this.#moved(event)];
    this.#doubtful = { index, call, events: [event] };
    return before;
  }

  #delta(event: StreamEvent): void {
    const { name, data = '' } = event;
    const text = this.#deltas.read(name, data);
    if (text === undefined) {
      const { index, delta }: MessagesEvent = event.parse() ?? {};
      this.#last = this.#open.get(index);
      const read = asText(member<MessagesDelta>(delta, 'partial_json'));
      this.#deltas.learn(name, data, read, inputOfDelta);
      take(this.#last, read);
    } else take(this.#last, text);
  }

  #stop(event: StreamEvent): readonly StreamEvent[] {
    const { index }: MessagesEvent = event.parse() ?? {};
    const call = this.#open.get(index);
    this.#open.delete(index);
    const doubtful = this.#doubtful;
    if (call === undefined || doubtful?.call !== call) {
      const passed = this.#passed(event);
      if (call !== undefined) this.#isKnown(call);
      return passed;
    }
    doubtful.events.push(event);
    return this.#settle();
  }

  /** Returns the event, or holds it back if it belongs to the doubtful call. An event of another block shows that both blocks are open. */
  #passed(event: StreamEvent): readonly StreamEvent[] {
    const doubtful = this.#doubtful;
    if (doubtful === undefined) return [this.#moved(event)];
    if (member<MessagesEvent>(event.parse(), 'index') === doubtful.index) {
      doubtful.events.push(event);
      return [];
    }
    return [...this.#release(), this.#moved(event)];
  }

  /** The events of the doubtful call; empty if the call is a repetition. */
  #settle(): readonly StreamEvent[] {
    const doubtful = this.#doubtful;
    if (doubtful === undefined) return [];
    if (!this.#isKnown(doubtful.call)) return this.#release();
    this.#doubtful = undefined;
    if (typeof doubtful.index === 'number') this.#dropped.push(doubtful.index);
    return [];
  }

  #release(): readonly StreamEvent[] {
    const events = this.#doubtful?.events ?? [];
    this.#doubtful = undefined;
    return events.map((event) => this.#moved(event));
  }

  /** True if an equal complete call is already recorded; otherwise records the call. */
  #isKnown(call: OpenCall): boolean {
    if (call.id === '') return false;
    const inputs = this.#complete.get(nameOf(call)) ?? new Set();
    const digest = createHash('sha256').update(canonicalInput(call.input)).digest('base64');
    const isKnown = inputs.has(digest);
    this.#complete.set(nameOf(call), inputs.add(digest));
    return isKnown;
  }

  /** The event with the index that its block has after earlier blocks were dropped. */
  #moved(event: StreamEvent): StreamEvent {
    if (this.#dropped.length === 0) return event;
    const body: MessagesEvent = event.parse() ?? {};
    const { index } = body;
    const before = typeof index === 'number' ? this.#dropped.filter((one) => one < index).length : 0;
    return before === 0 ? event : replaceEventData(event, { ...body, index: scalarNumber(index) - before });
  }
}

export function isCall(block: JsonValue | undefined): block is JsonObject {
  return member<MessagesBlock>(block, 'type') === 'tool_use';
}

function callIn({ id, name, input }: MessagesBlock): OpenCall {
  const isGiven = isJsonObject(input) && Object.keys(input).length > 0;
  return { id: asText(id), name: asText(name), input: isGiven ? JSON.stringify(input) : '', isGiven };
}

function take(call: OpenCall | undefined, input: string): void {
  if (call?.isGiven === false) call.input += input;
}

function nameOf({ id, name }: OpenCall): string {
  return `${id}\n${name}`;
}

function inputOfDelta({ delta }: MessagesEvent): JsonValue | undefined {
  return member<MessagesDelta>(delta, 'partial_json');
}
