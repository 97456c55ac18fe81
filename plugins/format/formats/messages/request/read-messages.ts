import type { JsonValue } from '#core/platform/json.ts';
import type { Item, Part, Reasoning, ToolCall, ToolResult } from '../../../canonical/conversation.ts';
import { type Notes, refuseUnread } from '../../../canonical/notes.ts';
import { readTaggedState } from '../../../canonical/opaque-state.ts';
import {
  invalid,
  isMissing,
  maybeBoolean,
  maybeText,
  readFilled,
  readList,
  readObject,
  readText,
} from '../../../wire/read.ts';
import { withMember } from '../../adaptation/adapt-members.ts';
import type { Adaptation } from '../../contract/adaptation.ts';
import { type PlacedBlock, readBlocks, readPart, readParts } from './read-content.ts';
import { member } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '../../../wire/messages.ts';

/**
 * Reads the messages of a request into items, and system messages before the first of them into instructions.
 * Source: Anthropic API reference, "Messages".
 */
export class MessagesHistoryReader {
  readonly instructions: string[] = [];
  readonly items: Item[] = [];
  readonly #notes: Notes;
  /** Parts of one side since its last call or result. */
  #parts: Part[] = [];

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** @throws GatewayError `invalid_request` */
  readSystem(value: JsonValue | undefined, path: string): void {
    for (const part of readParts(value, path, this.#notes)) {
      if (part.type !== 'text') this.#notes.drop(`${part.type} in system`);
      else if (!isBillingHeader(part.text)) this.instructions.push(part.text);
    }
  }

  /** @throws GatewayError `invalid_request` */
  readMessages(value: JsonValue | undefined): void {
    const messages = readList(value, 'messages');
    if (messages.length === 0) throw invalid('messages', 'a list of at least one message');
    let count = 0;
    for (const [index, entry] of messages.entries()) {
      const path = `messages[${index}]`;
      count = this.items.length;
      this.#readMessage(readObject(entry, path), path);
    }
    if (this.items.length === count) refuseUnread(`messages[${messages.length - 1}]`, this.#notes);
  }

  #readMessage(message: MessagesMessage, path: string): void {
    const { content, role } = message;
    if (isMissing(content)) throw invalid(`${path}.content`, 'a string or a list of blocks');
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      throw invalid(`${path}.role`, 'user, assistant or system');
    }
    if (!isMissing(message.output_config)) this.#notes.drop('output_config of a message');
    if (role === 'system' && this.items.length === 0) return this.readSystem(content, `${path}.content`);
    for (const placed of readBlocks(content, `${path}.content`)) {
      if (role === 'assistant') this.#readAnswer(placed);
      else if (role === 'user' && placed.type === 'tool_result') this.#push(role, readResult(placed, this.#notes));
      else this.#parts.push(...readPart(placed, this.#notes));
    }
    this.#flush(role);
  }

  #readAnswer(placed: PlacedBlock): void {
    switch (placed.type) {
      case 'thinking':
        return this.#push('assistant', readThinking(placed));
      case 'redacted_thinking':
        return this.#push('assistant', readRedacted(placed));
      case 'tool_use':
        return this.#push('assistant', readCall(placed));
      default:
        this.#parts.push(...readPart(placed, this.#notes));
    }
  }

  #push(role: 'user' | 'assistant', item: Reasoning | ToolCall | ToolResult): void {
    // Without text and without a known origin, no upstream can use it.
    if (item.type === 'reasoning' && item.text === '' && item.state === undefined) {
      this.#notes.drop('reasoning of unknown origin');
      return;
    }
    this.#flush(role);
    this.items.push(item);
  }

  #flush(role: 'user' | 'assistant' | 'system'): void {
    if (this.#parts.length > 0) this.items.push({ type: 'message', role, parts: this.#parts });
    this.#parts = [];
  }
}

/** Thinking of other vendors comes back without a signature. */
function readThinking({ block, path }: PlacedBlock): Reasoning {
  const signature = maybeText(block.signature, `${path}.signature`) ?? '';
  return {
    type: 'reasoning',
    text: readText(block.thinking, `${path}.thinking`),
    state: readTaggedState(signature),
  };
}

function readRedacted({ block, path }: PlacedBlock): Reasoning {
  return { type: 'reasoning', text: '', state: readTaggedState(readText(block.data, `${path}.data`)) };
}

function readCall({ block, path }: PlacedBlock): ToolCall {
  return {
    type: 'tool_call',
    id: readText(block.id, `${path}.id`),
    name: readFilled(block.name, `${path}.name`),
    namespace: undefined,
    form: 'function',
    input: JSON.stringify(readObject(block.input ?? {}, `${path}.input`)),
  };
}

function readResult({ block, path }: PlacedBlock, notes: Notes): ToolResult {
  return {
    type: 'tool_result',
    id: readText(block.tool_use_id, `${path}.tool_use_id`),
    parts: readParts(block.content, `${path}.content`, notes),
    isError: maybeBoolean(block.is_error, `${path}.is_error`) ?? false,
  };
}

/** True for the prompt block with Claude Code's billing data, which differs per request. */
function isBillingHeader(text: string): boolean {
  return text.startsWith('x-anthropic-billing-header');
}

/** Leaves Claude Code's billing header out where another vendor is behind the route: its prompt cache would never hit. */
export const adaptBillingHeader: Adaptation = (body: MessagesRequest, { profile }) => {
  const { system } = body;
  if (profile.quirks.betas || !Array.isArray(system)) return body;
  const others = system.filter((block) => !isBilling(block));
  if (others.length === system.length) return body;
  return withMember(body, 'system', others.length === 0 ? undefined : others);
};

function isBilling(block: JsonValue): boolean {
  const text = member<MessagesBlock>(block, 'text');
  return typeof text === 'string' && isBillingHeader(text);
}
