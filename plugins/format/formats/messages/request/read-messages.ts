import type { JsonValue } from '#core/platform/json.ts';
import type { Item, Part, Reasoning, ToolCall, ToolResult } from '../../../canonical/conversation.ts';
import { type Notes, refuseUnreadMessage } from '../../../canonical/notes.ts';
import { readTaggedState } from '../../../canonical/opaque-state.ts';
import { readMember } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesMessage, MessagesRequest } from '../../../wire/messages.ts';
import { invalidValue, type BodyObject } from '../../../wire/read.ts';
import { withMember } from '../../adaptation/adapt-members.ts';
import type { Adaptation } from '../../contract/adaptation.ts';
import { readBlocks, readPart, readParts } from './read-content.ts';

/**
 * Reads a request's messages as items. System messages before the first item become instructions. Source: Anthropic API reference,
 * "Messages".
 */
export class MessagesHistoryReader {
  readonly instructions: string[] = [];
  readonly items: Item[] = [];
  readonly #notes: Notes;
  /** The current message's parts since its last call or result. */
  #parts: Part[] = [];

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** @throws GatewayError `invalid_request` */
  readSystem<T extends object>(holder: BodyObject<T>, name: keyof T & string): void {
    for (const part of readParts(holder, name, this.#notes)) {
      if (part.type !== 'text') this.#notes.drop(`${part.type} in system`);
      else if (!isBillingHeader(part.text)) this.instructions.push(part.text);
    }
  }

  /** @throws GatewayError `invalid_request` */
  readMessages(body: BodyObject<MessagesRequest>): void {
    const { length } = body.list('messages');
    if (length === 0) throw invalidValue('messages', 'a list of at least one message');
    let countBefore = 0;
    for (const message of body.objects<MessagesMessage>('messages')) {
      countBefore = this.items.length;
      this.#readMessage(message);
    }
    if (this.items.length === countBefore) refuseUnreadMessage(`messages[${length - 1}]`, this.#notes);
  }

  #readMessage(message: BodyObject<MessagesMessage>): void {
    const { role } = message.value;
    if (message.isMissing('content')) throw invalidValue(message.pathOf('content'), 'a string or a list of blocks');
    if (role !== 'user' && role !== 'assistant' && role !== 'system')
      throw invalidValue(message.pathOf('role'), 'user, assistant or system');
    if (!message.isMissing('output_config')) this.#notes.drop('output_config of a message');
    if (role === 'system' && this.items.length === 0) return this.readSystem(message, 'content');
    for (const block of readBlocks(message, 'content')) {
      if (role === 'assistant') this.#readAssistantBlock(block);
      else if (role === 'user' && block.value.type === 'tool_result')
        this.#addItem(role, readResult(block, this.#notes));
      else this.#parts.push(...readPart(block, this.#notes));
    }
    this.#flush(role);
  }

  #readAssistantBlock(block: BodyObject<MessagesBlock>): void {
    switch (block.value.type) {
      case 'thinking':
        return this.#addItem('assistant', readThinking(block));
      case 'redacted_thinking':
        return this.#addItem('assistant', readRedacted(block));
      case 'tool_use':
        return this.#addItem('assistant', readCall(block));
      default:
        this.#parts.push(...readPart(block, this.#notes));
    }
  }

  #addItem(role: 'user' | 'assistant', item: Reasoning | ToolCall | ToolResult): void {
    // No upstream can use reasoning that has neither text nor a known origin.
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

function readThinking(block: BodyObject<MessagesBlock>): Reasoning {
  // Thinking from other vendors has no signature.
  const signature = block.maybeText('signature') ?? '';
  return { type: 'reasoning', text: block.text('thinking'), state: readTaggedState(signature) };
}

function readRedacted(block: BodyObject<MessagesBlock>): Reasoning {
  return { type: 'reasoning', text: '', state: readTaggedState(block.text('data')) };
}

function readCall(block: BodyObject<MessagesBlock>): ToolCall {
  return {
    type: 'tool_call',
    id: block.text('id'),
    name: block.filledText('name'),
    namespace: undefined,
    form: 'function',
    input: JSON.stringify(block.maybeObject('input')?.value ?? {}),
  };
}

function readResult(block: BodyObject<MessagesBlock>, notes: Notes): ToolResult {
  return {
    type: 'tool_result',
    id: block.text('tool_use_id'),
    parts: readParts(block, 'content', notes),
    isError: block.maybeBoolean('is_error') ?? false,
  };
}

function isBillingHeader(text: string): boolean {
  return text.startsWith('x-anthropic-billing-header');
}

/** Removes Claude Code's billing header on other vendors' routes, because it would prevent hits in their prompt caches. */
export const adaptBillingHeader: Adaptation = (body: MessagesRequest, { profile }) => {
  const { system } = body;
  if (profile.quirks.betas || !Array.isArray(system)) return body;
  const remainingBlocks = system.filter((block) => !isBillingBlock(block));
  if (remainingBlocks.length === system.length) return body;
  return withMember(body, 'system', remainingBlocks.length === 0 ? undefined : remainingBlocks);
};

function isBillingBlock(block: JsonValue): boolean {
  const text = readMember<MessagesBlock>(block, 'text');
  return typeof text === 'string' && isBillingHeader(text);
}
