import { type JsonObject, isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { writeDataUrl } from '../../../canonical/media.ts';
import {
  type BlockHead,
  type ReplyEvent,
  type Block,
  type CompleteReply,
  contentOf,
  type ImageBlock,
  paragraphBreak,
} from '../../../canonical/reply.ts';
import type { PrecedingContent } from '../../../content/sent-content.ts';
import type { ChatCall, ChatMessage, ChatPart, ChatReasoningDetail } from '../../../wire/chat.ts';
import { asList } from '../../../wire/members.ts';
import { reasoningSeparator } from '../request/read-reasoning.ts';
import { type CallForm, writeCall, writeCitation, writeReasoningState } from './reply-object.ts';

export type BlockEvent = Exclude<ReplyEvent, { type: 'start' | 'finish' }>;

/** Writes blocks as deltas of a single message, which has one text, one reasoning text, one refusal, and calls numbered 0, 1, 2… */
export class MessageDeltas {
  readonly #callForm: CallForm;
  #textLength = 0;
  #reasoningLength = 0;
  #refusalLength = 0;
  #callCount = 0;
  #imageCount = 0;
  readonly #states: ChatReasoningDetail[] = [];
  #precedingTextLength = 0;
  #separator = '';

  constructor(callForm: CallForm) {
    this.#callForm = callForm;
  }

  /** True if there is no text, refusal or call yet. */
  get isEmpty(): boolean {
    return this.#textLength === 0 && this.#refusalLength === 0 && this.#callCount === 0;
  }

  writeEvent(event: BlockEvent): ChatMessage[] {
    switch (event.type) {
      case 'block_start':
        return this.#startBlock(event.block);
      case 'block_delta':
        return this.#continueBlock(event.block, event.text);
      case 'citation':
        return [{ annotations: [writeCitation(event.citation, this.#precedingTextLength)] }];
      case 'block_stop':
        if (event.block.type === 'image') return [{ images: [writeImage(event.block, this.#imageCount++)] }];
        if (event.block.type === 'reasoning') this.#states.push(writeReasoningState(event.block, this.#states.length));
        return [];
    }
  }

  /**
   * Returns the reasoning states. They must be in a single delta after all blocks: some clients concatenate such lists, but the openai SDK
   * keeps only the last one.
   */
  writeStates(): ChatMessage[] {
    return this.#states.length === 0 ? [] : [{ reasoning_details: this.#states }];
  }

  #startBlock(head: BlockHead): ChatMessage[] {
    this.#separator = this.#selectSeparator(head);
    if (head.type === 'text') this.#precedingTextLength = this.#textLength + this.#separator.length;
    if (head.type !== 'tool_call') return [];
    const index = this.#callCount++;
    const call = writeCall(head, '');
    if (this.#callForm === 'tool_calls') return [{ tool_calls: [{ index, ...call }] }];
    return index === 0 ? [{ function_call: call.function }] : [];
  }

  #selectSeparator(head: BlockHead): string {
    return selectSeparator(head, {
      hasText: this.#textLength > 0,
      hasReasoning: this.#reasoningLength > 0,
      hasRefusal: this.#refusalLength > 0,
    });
  }

  #continueBlock(head: BlockHead, text: string): ChatMessage[] {
    const piece = this.#separator + text;
    this.#separator = '';
    switch (head.type) {
      case 'text':
        this.#textLength += piece.length;
        return [{ content: piece }];
      case 'refusal':
        this.#refusalLength += piece.length;
        return [{ refusal: piece }];
      case 'reasoning':
        this.#reasoningLength += piece.length;
        return [{ reasoning_content: piece }];
      case 'tool_call':
        return this.#continueCall(head.form === 'freeform', text);
      case 'image':
        return [];
    }
  }

  #continueCall(isFreeform: boolean, text: string): ChatMessage[] {
    const index = this.#callCount - 1;
    if (this.#callForm === 'function_call') return index === 0 ? [{ function_call: { arguments: text } }] : [];
    const piece: ChatCall = isFreeform ? { custom: { input: text } } : { function: { arguments: text } };
    return [{ tool_calls: [{ index, ...piece }] }];
  }
}

/** Returns the separator between a block and earlier blocks of its kind, because the message has one text per kind. */
export function selectSeparator(head: BlockHead, preceding: Omit<PrecedingContent, 'lastType'>): string {
  const { type } = head;
  if (type === 'text') return preceding.hasText && head.isParagraph === true ? paragraphBreak : '';
  if (type === 'reasoning') return preceding.hasReasoning ? reasoningSeparator : '';
  return type === 'refusal' && preceding.hasRefusal ? paragraphBreak : '';
}

/** Writes the message of a non-streaming reply as the sum of its deltas, so that both forms always have the same content. */
export function writeMessage({ blocks }: CompleteReply, callForm: CallForm): ChatMessage {
  const deltas = new MessageDeltas(callForm);
  const message = { role: 'assistant', content: null, refusal: null } satisfies ChatMessage as JsonObject;
  for (const [index, block] of blocks.entries()) {
    for (const delta of writeBlock(deltas, index, block)) addDelta(message, delta);
  }
  for (const delta of deltas.writeStates()) addDelta(message, delta);
  const { content, refusal, tool_calls: calls, function_call: call }: ChatMessage = message;
  // The text may be null only in a message with a call or a refusal.
  return refusal === null && calls === undefined && call === undefined
    ? { ...message, content: content ?? '' }
    : message;
}

function writeBlock(deltas: MessageDeltas, index: number, block: Block): ChatMessage[] {
  const text = contentOf(block);
  const citations = block.type === 'text' ? block.citations : [];
  return [
    ...deltas.writeEvent({ type: 'block_start', index, block }),
    ...(text === '' ? [] : deltas.writeEvent({ type: 'block_delta', index, block, text })),
    ...citations.flatMap((citation) => deltas.writeEvent({ type: 'citation', index, citation })),
    ...deltas.writeEvent({ type: 'block_stop', index, block }),
  ];
}

function writeImage({ source }: ImageBlock, index: number): ChatPart {
  const url = source.type === 'url' ? source.url : writeDataUrl(source);
  // OpenRouter's form; OpenAI's format has none.
  return { type: 'image_url', image_url: { url }, index };
}

function addDelta(message: JsonObject, delta: ChatMessage): void {
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'tool_calls' && Array.isArray(value)) message[name] = addCalls(asList(message[name]), value);
    else message[name] = mergeDeltas(message[name], value);
  }
}

function addCalls(calls: readonly JsonValue[], entries: readonly JsonValue[]): JsonValue[] {
  const mergedCalls = [...calls];
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue;
    // The calls of a non-streaming message have no indexes.
    const { index, ...call } = entry;
    mergedCalls[Number(index)] = mergeDeltas(mergedCalls[Number(index)], call);
  }
  return mergedCalls;
}

function mergeDeltas(first: JsonValue | undefined, second: JsonValue | undefined): JsonValue {
  if (typeof first === 'string' && typeof second === 'string') return first + second;
  if (Array.isArray(second)) return [...asList(first), ...second];
  if (!isJsonObject(first) || !isJsonObject(second)) return second ?? null;
  const members = Object.entries(second).map(([name, value]) => [name, mergeDeltas(first[name], value)]);
  return { ...first, ...Object.fromEntries(members) };
}
