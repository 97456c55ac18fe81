import type { Item, Message, Part, ImagePart } from '../../../canonical/conversation.ts';
import { placeParts, toTextParts } from '../../../canonical/media.ts';
import { type Notes, refuseUnreadMessage } from '../../../canonical/notes.ts';
import {
  hasBreakpoint,
  readAudio,
  readContentParts,
  readFilePart,
  appendInstructions,
  readMediaUrl,
  toRefusalParts,
} from '../../../canonical/openai.ts';
import { normalizeInput } from '../../../canonical/stored-reasoning.ts';
import { readName } from '../../../canonical/tools.ts';
import type { ChatCall, ChatCallBody, ChatMessage, ChatImage, ChatPart, ChatRequest } from '../../../wire/chat.ts';
import { invalidValue, type BodyObject } from '../../../wire/read.ts';
import { readReasoning } from './read-reasoning.ts';

/**
 * Reads a request's messages. System messages at the start become instructions. Source: OpenAI API reference, "Create chat completion",
 * `messages`.
 */
export class ChatHistoryReader {
  readonly instructions: string[] = [];
  readonly items: Item[] = [];
  areInstructionsCached: true | undefined;
  readonly #notes: Notes;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** @throws GatewayError `invalid_request` if a message is malformed, or the last message has no content */
  read(body: BodyObject<ChatRequest>): void {
    const { messages } = body.value;
    if (!Array.isArray(messages) || messages.length === 0)
      throw invalidValue('messages', 'a list of at least one message');
    let countBefore = 0;
    for (const message of body.objects<ChatMessage>('messages')) {
      countBefore = this.items.length;
      if (!message.isMissing('name') && message.value.role !== 'function') this.#notes.drop('name of messages');
      this.#readMessage(message);
    }
    if (this.items.length === countBefore) refuseUnreadMessage(`messages[${messages.length - 1}]`, this.#notes);
  }

  #readMessage(message: BodyObject<ChatMessage>): void {
    switch (message.text('role')) {
      case 'system':
      case 'developer':
        return this.#addSystem(this.#readContent(message));
      case 'user':
        return this.#addMessage('user', this.#readContent(message));
      case 'assistant':
        return this.#readAssistant(message);
      case 'tool':
        return this.#addResult(message.text('tool_call_id'), message);
      case 'function':
        return this.#addResult(createDeprecatedCallId(readName(message)), message);
      default:
        throw invalidValue(message.pathOf('role'), 'developer, system, user, assistant or tool');
    }
  }

  #readContent(message: BodyObject<ChatMessage>): Part[] {
    if (message.isMissing('content')) throw invalidValue(message.pathOf('content'), 'a string or a list of parts');
    return this.#readParts(message);
  }

  #readParts(message: BodyObject<ChatMessage>): Part[] {
    const parts = readContentParts(message, 'content', (part) => readPart(part, this.#notes));
    // A cache breakpoint on the message applies to its last text.
    if (!hasBreakpoint(message.value)) return parts;
    const lastTextIndex = parts.findLastIndex(({ type }) => type === 'text');
    const part = parts[lastTextIndex];
    return part?.type === 'text' ? parts.with(lastTextIndex, { ...part, isBreakpoint: true }) : parts;
  }

  #addSystem(parts: Part[]): void {
    if (this.items.length > 0) this.#addMessage('system', parts);
    else appendInstructions(this, parts, this.#notes);
  }

  #addMessage(role: Message['role'], parts: readonly Part[]): void {
    if (parts.length > 0) this.items.push({ type: 'message', role, parts });
  }

  #readAssistant(message: BodyObject<ChatMessage>): void {
    this.items.push(...readReasoning(message, this.#notes));
    const parts = this.#readParts(message);
    // Clients send generated images back as they received them from the gateway.
    for (const image of message.objects('images')) parts.push(...placeParts(readPart(image, this.#notes), image));
    parts.push(...toRefusalParts(message.maybeText('refusal')));
    this.#addMessage('assistant', parts);
    if (!message.isMissing('audio')) this.#notes.drop('audio in assistant messages');
    const callStart = this.items.length;
    for (const call of message.objects<ChatCall>('tool_calls')) this.#readCall(call);
    const deprecatedCall = message.maybeObject<ChatCallBody>('function_call');
    if (deprecatedCall !== undefined) this.#readDeprecatedCall(deprecatedCall, this.items.slice(callStart));
  }

  #readCall(call: BodyObject<ChatCall>): void {
    const type = call.maybeText('type') ?? 'function';
    if (type !== 'function' && type !== 'custom') return this.#notes.drop(`tool call ${type}`);
    const id = call.text('id');
    const body = call.object<ChatCallBody>(type);
    const name = readName(body);
    const input = type === 'function' ? body.maybeText('arguments') || '{}' : (body.maybeText('input') ?? '');
    const form = type === 'function' ? type : 'freeform';
    this.items.push({ type: 'tool_call', id, name, namespace: undefined, form, input });
  }

  #readDeprecatedCall(call: BodyObject<ChatCallBody>, calls: readonly Item[]): void {
    const name = readName(call);
    const input = call.maybeText('arguments') || '{}';
    // Some servers write a call in both forms.
    const isSame = (item: Item) =>
      item.type === 'tool_call' && item.name === name && normalizeInput(item.input) === normalizeInput(input);
    if (calls.some(isSame)) return;
    const id = createDeprecatedCallId(name);
    this.items.push({ type: 'tool_call', id, name, namespace: undefined, form: 'function', input });
  }

  #addResult(id: string, message: BodyObject<ChatMessage>): void {
    this.items.push({ type: 'tool_result', id, parts: this.#readParts(message), isError: false });
  }
}

/** Calls in the deprecated form have no ids. `CallIds` later makes repeated ids unique. */
function createDeprecatedCallId(name: string): string {
  return `call_function_${name}`;
}

function readPart(part: BodyObject<ChatPart>, notes: Notes): Part[] {
  const type = part.text('type');
  switch (type) {
    case 'text':
      return toTextParts(part.text('text'), hasBreakpoint(part.value));
    case 'refusal':
      return toRefusalParts(part.text('refusal'));
    case 'image_url':
      return [readImage(part, type)];
    case 'input_audio':
      return [readAudio(part.object(type))];
    case 'file':
      return [readFilePart(part.object(type), false)];
    case 'video_url':
      return [{ type: 'video', source: readImage(part, type).source }];
    default:
      notes.dropPart(`content part ${type}`, part.path);
      return [];
  }
}

function readImage(part: BodyObject<ChatPart>, name: 'image_url' | 'video_url'): ImagePart {
  const value = part.get(name);
  // Some clients send the bare URL instead of the object that contains it.
  if (typeof value === 'string')
    return { type: 'image', source: readMediaUrl(value, part.pathOf(name)), detail: undefined };
  const image = part.object<ChatImage>(name);
  const source = readMediaUrl(image.text('url'), image.pathOf('url'));
  return { type: 'image', source, detail: image.maybeText('detail') };
}
