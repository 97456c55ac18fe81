import { type JsonObject, isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { writeDataUrl } from '../../../canonical/media.ts';
import {
  type BlockHead,
  type ReplyEvent,
  type Block,
  type CompleteReply,
  contentOf,
  type ImageBlock,
  paragraph,
} from '../../../canonical/reply.ts';
import type { SaidBefore } from '../../../content/sent-content.ts';
import { thoughtSeparator } from '../request/read-reasoning.ts';
import { writeCall, writeCitation, writeReasoningState } from './reply-object.ts';
import type { ChatCall, ChatMessage, ChatPart, ChatReasoningDetail } from '../../../wire/chat.ts';
import { asList } from '../../../wire/members.ts';

/** The events between the start and the end of a reply. */
export type BlockEvent = Exclude<ReplyEvent, { type: 'start' | 'finish' }>;

/**
 * Writes blocks as deltas of the format's one message: one text, one reasoning text, one refusal, and calls with
 * indexes 0, 1, 2…
 */
export class MessageDeltas {
  readonly #isOld: boolean;
  #text = 0;
  #thoughts = 0;
  #refusal = 0;
  #calls = 0;
  #images = 0;
  readonly #states: ChatReasoningDetail[] = [];
  /** Number of text characters before the open block. */
  #before = 0;
  #separator = '';

  /** @param isOld true if the client supports only `function_call`, at most one per message */
  constructor(isOld: boolean) {
    this.#isOld = isOld;
  }

  /** True while there is no text, refusal or call. */
  get isSilent(): boolean {
    return this.#text === 0 && this.#refusal === 0 && this.#calls === 0;
  }

  take(event: BlockEvent): ChatMessage[] {
    switch (event.type) {
      case 'block_start':
        return this.#open(event.block);
      case 'block_delta':
        return this.#delta(event.block, event.text);
      case 'citation':
        return [{ annotations: [writeCitation(event.citation, this.#before)] }];
      case 'block_stop':
        if (event.block.type === 'image') return [{ images: [writeImage(event.block, this.#images++)] }];
        if (event.block.type === 'reasoning') this.#states.push(writeReasoningState(event.block, this.#states.length));
        return [];
    }
  }

  /**
   * The reasoning states, after all blocks and in one delta: some clients concatenate such lists, and the openai SDK
   * keeps only the last one.
   */
  end(): ChatMessage[] {
    return this.#states.length === 0 ? [] : [{ reasoning_details: this.#states }];
  }

  #open(head: BlockHead): ChatMessage[] {
    this.#separator = this.#separatorFor(head);
    if (head.type === 'text') this.#before = this.#text + this.#separator.length;
    if (head.type !== 'tool_call') return [];
    const index = this.#calls++;
    const call = writeCall(head, '');
    if (!this.#isOld) return [{ tool_calls: [{ index, ...call }] }];
    return index === 0 ? [{ function_call: call.function }] : [];
  }

  #separatorFor(head: BlockHead): string {
    return separatorBefore(head, {
      hasText: this.#text > 0,
      hasReasoning: this.#thoughts > 0,
      hasRefusal: this.#refusal > 0,
    });
  }

  #delta(head: BlockHead, text: string): ChatMessage[] {
    const piece = this.#separator + text;
    this.#separator = '';
    switch (head.type) {
      case 'text':
        this.#text += piece.length;
        return [{ content: piece }];
      case 'refusal':
        this.#refusal += piece.length;
        return [{ refusal: piece }];
      case 'reasoning':
        this.#thoughts += piece.length;
        return [{ reasoning_content: piece }];
      case 'tool_call':
        return this.#input(head.form === 'freeform', text);
      case 'image':
        return [];
    }
  }

  #input(isFreeform: boolean, text: string): ChatMessage[] {
    const index = this.#calls - 1;
    if (this.#isOld) return index === 0 ? [{ function_call: { arguments: text } }] : [];
    const piece: ChatCall = isFreeform ? { custom: { input: text } } : { function: { arguments: text } };
    return [{ tool_calls: [{ index, ...piece }] }];
  }
}

/** The separator between a block and earlier blocks of its kind: the message has one text per kind. */
export function separatorBefore(head: BlockHead, before: Omit<SaidBefore, 'last'>): string {
  const { type } = head;
  if (type === 'text') return before.hasText && head.isParagraph === true ? paragraph : '';
  if (type === 'reasoning') return before.hasReasoning ? thoughtSeparator : '';
  return type === 'refusal' && before.hasRefusal ? paragraph : '';
}

/** The message of a whole reply: the sum of its deltas, so that both are always the same. */
export function wholeMessage({ blocks }: CompleteReply, isOld: boolean): ChatMessage {
  const deltas = new MessageDeltas(isOld);
  const message = { role: 'assistant', content: null, refusal: null } satisfies ChatMessage as JsonObject;
  for (const [index, block] of blocks.entries()) {
    for (const delta of deltasOf(deltas, index, block)) addDelta(message, delta);
  }
  for (const delta of deltas.end()) addDelta(message, delta);
  const { content, refusal, tool_calls: calls, function_call: call }: ChatMessage = message;
  // A message with a call or a refusal may have null as its text; any other message has at least an empty text.
  return refusal === null && calls === undefined && call === undefined
    ? { ...message, content: content ?? '' }
    : message;
}

function deltasOf(deltas: MessageDeltas, index: number, block: Block): ChatMessage[] {
  const text = contentOf(block);
  const citations = block.type === 'text' ? block.citations : [];
  return [
    ...deltas.take({ type: 'block_start', index, block }),
    ...(text === '' ? [] : deltas.take({ type: 'block_delta', index, block, text })),
    ...citations.flatMap((citation) => deltas.take({ type: 'citation', index, citation })),
    ...deltas.take({ type: 'block_stop', index, block }),
  ];
}

/** Follows OpenRouter's `images`: OpenAI's format has no images. */
function writeImage({ source }: ImageBlock, index: number): ChatPart {
  const url = source.type === 'url' ? source.url : writeDataUrl(source);
  return { type: 'image_url', image_url: { url }, index };
}

function addDelta(message: JsonObject, delta: ChatMessage): void {
  for (const [name, value] of Object.entries(delta)) {
    if (name === 'tool_calls' && Array.isArray(value)) message[name] = addCalls(asList(message[name]), value);
    else message[name] = add(message[name], value);
  }
}

/** Entries with a known index continue their call; other entries are new calls. The whole message has no indexes. */
function addCalls(calls: readonly JsonValue[], entries: readonly JsonValue[]): JsonValue[] {
  const added = [...calls];
  for (const entry of entries) {
    if (!isJsonObject(entry)) continue;
    const { index, ...call } = entry;
    added[Number(index)] = add(added[Number(index)], call);
  }
  return added;
}

/** Concatenates strings and lists, and merges objects member by member. */
function add(so: JsonValue | undefined, more: JsonValue | undefined): JsonValue {
  if (typeof so === 'string' && typeof more === 'string') return so + more;
  if (Array.isArray(more)) return [...asList(so), ...more];
  if (!isJsonObject(so) || !isJsonObject(more)) return more ?? null;
  const members = Object.entries(more).map(([name, value]) => [name, add(so[name], value)]);
  return { ...so, ...Object.fromEntries(members) };
}
