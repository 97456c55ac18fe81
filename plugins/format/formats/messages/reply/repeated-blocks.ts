import { createHash } from 'node:crypto';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { JsonValue } from '#core/platform/json.ts';
import { RepeatedCalls } from '../../../canonical/repeated-calls.ts';
import { RepeatedDelta } from '../../../canonical/repeated-event.ts';
import type { Fragment } from '../../../canonical/reply.ts';
import { normalizeInput } from '../../../canonical/stored-reasoning.ts';
import { readMember, scalarToNumber } from '../../../wire/members.ts';
import type { MessagesEvent } from '../../../wire/messages.ts';
import { replaceEventData } from '../../contract/pass-through.ts';
import { BlockReader, isCall, readDeltaText } from './read-output.ts';

type Index = JsonValue | undefined;

/**
 * Drops a call that repeats the id, name and input of a complete call. Its events are held back until its input is complete. The blocks
 * after a dropped call are renumbered.
 */
export class RepeatedBlocks {
  readonly #blocks = new BlockReader();
  readonly #deltas = new RepeatedDelta();
  readonly #inputs = new Map<unknown, string>();
  readonly #digests = new Map<unknown, string>();
  readonly #calls = new RepeatedCalls((key, input) => this.#digests.get(key) === computeDigest(input));
  #held: { readonly index: Index; readonly events: StreamEvent[] } | undefined;
  readonly #droppedIndexes: number[] = [];

  get heldCharacters(): number {
    const inputs = this.#inputs.values().reduce((sum, input) => sum + input.length, 0);
    return (this.#held?.events ?? []).reduce((sum, { text }) => sum + text.length, inputs);
  }

  /** Returns false for a repeated call, which must be dropped. */
  acceptBlock(block: JsonValue, index: number): boolean {
    return (
      !isCall(block) ||
      hasCall(this.#recordAndFilter([...this.#blocks.startBlock(index, block), ...this.#blocks.stopBlock(index)]))
    );
  }

  replaceEvent(event: StreamEvent, type: JsonValue | undefined): readonly StreamEvent[] {
    switch (type) {
      case 'content_block_start': {
        const { index, content_block: block }: MessagesEvent = event.parse() ?? {};
        return this.#passOrHold(event, this.#blocks.startBlock(index, block), true);
      }
      case 'content_block_delta':
        return this.#inputs.size === 0 ? [this.#renumber(event)] : this.#passOrHold(event, this.#readDelta(event));
      case 'content_block_stop':
        return this.#inputs.size === 0 ? [this.#renumber(event)] : this.#stopBlock(event);
      case 'message_delta':
      case 'message_stop':
        return [...this.#endHeldCall(this.#held === undefined ? [] : this.#blocks.stopBlock(this.#held.index)), event];
      case 'error':
        return [...this.#release(), event];
      default:
        return [event];
    }
  }

  #readDelta(event: StreamEvent): Fragment[] {
    const { name, data = '' } = event;
    const repeatedFragments = this.#deltas.read(name, data);
    if (repeatedFragments !== undefined) return repeatedFragments;
    const { index, delta }: MessagesEvent = event.parse() ?? {};
    return this.#deltas.learn(name, data, this.#blocks.readDelta(index, delta), readDeltaText);
  }

  #passOrHold(event: StreamEvent, fragments: Fragment[], isStart = false): readonly StreamEvent[] {
    // An event of another block means that both are open. The start of a block that is sent twice yields no fragments.
    const isOther =
      this.#held !== undefined && (indexOf(event) !== this.#held.index || (isStart && fragments.length > 0));
    const releasedEvents = isOther ? this.#release() : [];
    const passedFragments = this.#recordAndFilter(fragments);
    if (!this.#calls.isHolding)
      return [...releasedEvents, ...this.#resolveHeld(hasCall(passedFragments)), this.#renumber(event)];
    this.#held ??= { index: indexOf(event), events: [] };
    this.#held.events.push(event);
    return releasedEvents;
  }

  #stopBlock(event: StreamEvent): readonly StreamEvent[] {
    const index = indexOf(event);
    if (this.#held === undefined || this.#held.index !== index)
      return this.#passOrHold(event, this.#blocks.stopBlock(index));
    this.#held.events.push(event);
    return this.#endHeldCall(this.#blocks.stopBlock(index));
  }

  #endHeldCall(end: Fragment[]): readonly StreamEvent[] {
    return this.#resolveHeld(hasCall(this.#recordAndFilter(end)));
  }

  #release(): readonly StreamEvent[] {
    this.#calls.releaseHeldCall();
    return this.#resolveHeld(true);
  }

  #resolveHeld(isKept: boolean): readonly StreamEvent[] {
    const { index, events = [] } = this.#held ?? {};
    this.#held = undefined;
    if (isKept) return events.map((event) => this.#renumber(event));
    if (typeof index === 'number') this.#droppedIndexes.push(index);
    return [];
  }

  #recordAndFilter(fragments: readonly Fragment[]): readonly Fragment[] {
    return fragments.flatMap((fragment) => {
      if (fragment.type === 'call') this.#inputs.set(fragment.key, '');
      if (fragment.type === 'input' && this.#inputs.has(fragment.key))
        this.#inputs.set(fragment.key, `${this.#inputs.get(fragment.key)}${fragment.text}`);
      if (fragment.type === 'call_end') {
        this.#digests.set(fragment.key, computeDigest(fragment.input ?? this.#inputs.get(fragment.key) ?? ''));
        this.#inputs.delete(fragment.key);
      }
      return this.#calls.filter(fragment);
    });
  }

  #renumber(event: StreamEvent): StreamEvent {
    if (this.#droppedIndexes.length === 0) return event;
    const body: MessagesEvent = event.parse() ?? {};
    const { index } = body;
    const droppedBefore =
      typeof index === 'number' ? this.#droppedIndexes.filter((droppedIndex) => droppedIndex < index).length : 0;
    return droppedBefore === 0
      ? event
      : replaceEventData(event, { ...body, index: scalarToNumber(index) - droppedBefore });
  }
}

function hasCall(fragments: readonly Fragment[]): boolean {
  return fragments.some(({ type }) => type === 'call');
}

function indexOf(event: StreamEvent): Index {
  return readMember<MessagesEvent>(event.parse(), 'index');
}

function computeDigest(input: string): string {
  return createHash('sha256').update(normalizeInput(input)).digest('base64');
}
