import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { CollectedText } from '#core/platform/memory/collected-text.ts';
import { createDroppedPart, type Fragment, charactersPerBlock, progress } from '../../../canonical/reply.ts';
import { asFilledText, asObject, asText, readMember } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesCitation, MessagesDelta, MessagesEvent } from '../../../wire/messages.ts';

interface OpenBlock {
  /** Vendors reuse indexes. */
  readonly key: number;
  readonly type: string;
  readonly id: JsonValue | undefined;
  readonly signature: CollectedText;
  /** The complete input, if the block starts with it; later deltas then only repeat it. */
  readonly input: string | undefined;
  /** Anthropic sends citations before the text. */
  readonly citations: Fragment[];
}

const vendorToolTypes = /^(server_tool_use|mcp_tool_use|compaction|.*_tool_result)$/;

/** Reads blocks and their deltas. Indexes may be missing, repeated or wrong. */
export class BlockReader {
  /** True once text or a call has arrived. */
  hasContent = false;
  /** True if other blocks followed the last text, so the next text does not continue it. */
  #isSeparated = false;
  readonly #openBlocks = new Map<JsonValue | undefined, OpenBlock>();
  #latestIndex: JsonValue | undefined;
  #blockCount = 0;

  startBlock(index: JsonValue | undefined, content: JsonValue | undefined): Fragment[] {
    const previousBlock = this.#openBlocks.get(index);
    const type = asText(readMember<MessagesBlock>(content, 'type'));
    const id = readMember<MessagesBlock>(content, 'id');
    if (previousBlock?.type === 'tool_use' && type === 'tool_use' && previousBlock.id === id) return [];
    const endFragments = previousBlock === undefined ? [] : this.stopBlock(index);
    const input = readInput(readMember<MessagesBlock>(content, 'input'));
    const block: OpenBlock = {
      key: this.#blockCount++,
      type,
      id,
      signature: new CollectedText(),
      input,
      citations: [],
    };
    this.#openBlocks.set(index, block);
    this.#latestIndex = index;
    const heldFragment: Fragment = { type: 'held', characters: charactersPerBlock };
    return [...endFragments, heldFragment, ...(isJsonObject(content) ? this.#openBlock(block, content) : [])];
  }

  readDelta(index: JsonValue | undefined, value: JsonValue | undefined): Fragment[] {
    const block = this.#openBlocks.get(index) ?? this.#openBlocks.get(this.#latestIndex);
    const delta: MessagesDelta | undefined = isJsonObject(value) ? value : undefined;
    if (delta === undefined) return [progress];
    if (block !== undefined && vendorToolTypes.test(block.type)) return [progress];
    const fragments = [...this.#readText('reasoning', delta.thinking), ...this.#readText('text', delta.text)];
    const citations = readCitation(delta.citation);
    // Even an empty delta, such as one whose thinking is omitted, counts as progress.
    const isEmpty = fragments.length === 0 && delta.signature === undefined && delta.citation === undefined;
    if (block === undefined) return [...fragments, ...citations, ...(isEmpty ? [progress] : [])];
    block.citations.push(...citations);
    const signature = asText(delta.signature);
    block.signature.add(signature);
    if (signature !== '') fragments.push({ type: 'held', characters: signature.length });
    const input = readInput(delta.partial_json);
    if (input !== undefined) fragments.push({ type: 'input', key: block.key, text: input });
    else if (isEmpty) fragments.push(progress);
    return fragments;
  }

  stopBlock(index: JsonValue | undefined): Fragment[] {
    const block = this.#openBlocks.get(index);
    this.#openBlocks.delete(index);
    if (block === undefined) return [{ type: 'break' }];
    if (block.type === 'tool_use') return [{ type: 'call_end', key: block.key, input: block.input }];
    const { citations } = block;
    const signature = block.signature.text;
    const state: Fragment[] = signature === '' ? [] : [{ type: 'reasoning_state', kind: 'signature', data: signature }];
    return [...citations, ...state, { type: 'break' }];
  }

  stopAllBlocks(): Fragment[] {
    return [...this.#openBlocks.keys()].flatMap((index) => this.stopBlock(index));
  }

  #openBlock(block: OpenBlock, content: MessagesBlock): Fragment[] {
    const isText = block.type === 'text' || block.type === '';
    const head: Fragment = { type: 'break', ...(isText && this.#isSeparated && { isParagraph: true }) };
    this.#isSeparated = !isText;
    switch (block.type) {
      case 'text':
        block.citations.push(...readCitations(content.citations));
        return [head, ...this.#readText('text', content.text)];
      case 'thinking':
        block.signature.add(asText(content.signature));
        return [head, ...this.#readText('reasoning', content.thinking)];
      case 'redacted_thinking':
        return [head, ...readRedacted(asText(content.data))];
      case 'tool_use':
        this.hasContent = true;
        return [
          head,
          ...readCaller(content),
          { type: 'call', key: block.key, id: asText(content.id), name: asText(content.name) },
          progress,
        ];
      case '':
        // Some vendors omit the type, which the deltas then reveal.
        return [head];
      default:
        return [head, createDroppedPart(block.type, 'unknown blocks'), progress];
    }
  }

  #readText(type: 'text' | 'reasoning', value: JsonValue | undefined): Fragment[] {
    const text = asText(value);
    if (text === '') return [];
    this.hasContent ||= type === 'text';
    return [{ type, text }];
  }
}

/** Returns true for a call to a tool that the client runs. */
export function isCall(block: JsonValue | undefined): block is JsonObject {
  return readMember<MessagesBlock>(block, 'type') === 'tool_use';
}

const deltaMembers = ['text', 'thinking', 'partial_json', 'signature', 'citation'] as const;

export function readDeltaText({ delta }: MessagesEvent): JsonValue | undefined {
  const values = deltaMembers
    .map((name) => readMember<MessagesDelta>(delta, name))
    .filter((value) => value !== undefined);
  return values.length === 1 ? values[0] : undefined;
}

export function textToBlocks(text: string): JsonObject[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function readRedacted(data: string): Fragment[] {
  return data === '' ? [] : [{ type: 'reasoning_state', kind: 'redacted', data }];
}

function readInput(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  // Some vendors send an object.
  return isJsonObject(value) && Object.keys(value).length > 0 ? JSON.stringify(value) : undefined;
}

function readCitations(value: JsonValue | undefined): Fragment[] {
  return Array.isArray(value) ? value.flatMap(readCitation) : [];
}

function readCaller(content: MessagesBlock): Fragment[] {
  // A call may come from vendor code that waits for it, or from a set of the vendor's tools.
  const caller = asText(readMember(content.caller, 'type'));
  return [
    ...(caller === '' || caller === 'direct' ? [] : [{ type: 'dropped', feature: 'caller of tool calls' } as const]),
    ...(asText(content.toolset_name) === ''
      ? []
      : [{ type: 'dropped', feature: 'toolset_name of tool calls' } as const]),
  ];
}

function readCitation(value: JsonValue | undefined): Fragment[] {
  const { url: link, source, title, cited_text: quote }: MessagesCitation = asObject(value);
  const url = asText(link) || asText(source);
  // Citations of documents have no URL, so other formats cannot express them.
  if (url === '') return isJsonObject(value) ? [{ type: 'dropped', feature: 'citations of documents' }] : [];
  const range = { start: undefined, end: undefined };
  const citation = { url, title: asFilledText(title), quote: asFilledText(quote), ...range };
  return [{ type: 'citation', citation, isForWholeText: true }];
}
