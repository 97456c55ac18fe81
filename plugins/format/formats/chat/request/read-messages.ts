import type { Item, Message, Part, ImagePart } from '../../../canonical/conversation.ts';
import { canonicalInput } from '../../../canonical/kept-reasoning.ts';
import { type Notes, refuseUnread } from '../../../canonical/notes.ts';
import { readName } from '../../../canonical/tools.ts';
import { invalid, type Placed } from '../../../wire/read.ts';
import { readReasoning } from './read-reasoning.ts';
import type { ChatCall, ChatCallBody, ChatMessage, ChatImage, ChatPart, ChatRequest } from '../../../wire/chat.ts';
import { placeParts, textPart } from '../../../canonical/media.ts';
import {
  hasBreakpoint,
  readAudio,
  readContentParts,
  readFilePart,
  readInstructions,
  readUrl,
  refusalPart,
} from '../../../canonical/openai.ts';

/**
 * Reads the messages of a request; system messages at the beginning become instructions. Source: OpenAI API reference,
 * "Create chat completion", `messages`.
 */
export class ChatHistoryReader {
  readonly instructions: string[] = [];
  readonly items: Item[] = [];
  areInstructionsCached: true | undefined;
  readonly #notes: Notes;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** @throws GatewayError `invalid_request` */
  read(body: Placed<ChatRequest>): void {
    const { messages } = body.value;
    if (!Array.isArray(messages) || messages.length === 0) throw invalid('messages', 'a list of at least one message');
    let count = 0;
    for (const message of body.objects<ChatMessage>('messages')) {
      count = this.items.length;
      if (!message.isMissing('name') && message.value.role !== 'function') this.#notes.drop('name of messages');
      this.#message(message);
    }
    if (this.items.length === count) refuseUnread(`messages[${messages.length - 1}]`, this.#notes);
  }

  #message(message: Placed<ChatMessage>): void {
    switch (message.text('role')) {
      case 'system':
      case 'developer':
        return this.#system(this.#content(message));
      case 'user':
        return this.#say('user', this.#content(message));
      case 'assistant':
        return this.#assistant(message);
      case 'tool':
        return this.#result(message.text('tool_call_id'), message);
      case 'function':
        return this.#result(idOfOldCall(readName(message)), message);
      default:
        throw invalid(message.at('role'), 'developer, system, user, assistant or tool');
    }
  }

  #content(message: Placed<ChatMessage>): Part[] {
    if (message.isMissing('content')) throw invalid(message.at('content'), 'a string or a list of parts');
    return this.#parts(message);
  }

  /**
   * Reads a string or a list of parts. Parts without text are omitted; a mark on the message applies to its last text. Source: OpenAI API
   * reference, "Create chat completion", `messages`.
   */
  #parts(message: Placed<ChatMessage>): Part[] {
    const parts = readContentParts(message, 'content', (part) => readPart(part, this.#notes));
    const last = hasBreakpoint(message.value) ? parts.findLastIndex(({ type }) => type === 'text') : -1;
    const part = parts[last];
    return part?.type === 'text' ? parts.with(last, { ...part, isBreakpoint: true }) : parts;
  }

  #system(parts: Part[]): void {
    if (this.items.length > 0) this.#say('system', parts);
    else readInstructions(this, parts, this.#notes);
  }

  #say(role: Message['role'], parts: readonly Part[]): void {
    if (parts.length > 0) this.items.push({ type: 'message', role, parts });
  }

  #assistant(message: Placed<ChatMessage>): void {
    this.items.push(...readReasoning(message, this.#notes));
    const parts = this.#parts(message);
    // Generated images, in the form in which the gateway sent them.
    for (const image of message.objects('images')) parts.push(...placeParts(readPart(image, this.#notes), image));
    parts.push(...refusalPart(message.maybeText('refusal')));
    this.#say('assistant', parts);
    if (!message.isMissing('audio')) this.#notes.drop('audio of assistant messages');
    const count = this.items.length;
    for (const call of message.objects<ChatCall>('tool_calls')) this.#call(call);
    const old = message.maybeObject<ChatCallBody>('function_call');
    if (old !== undefined) this.#oldCall(old, this.items.slice(count));
  }

  #call(call: Placed<ChatCall>): void {
    const type = call.maybeText('type') ?? 'function';
    if (type !== 'function' && type !== 'custom') return this.#notes.drop(`tool call ${type}`);
    const id = call.text('id');
    const body = call.object<ChatCallBody>(type);
    const name = readName(body);
    const input = type === 'function' ? body.maybeText('arguments') || '{}' : (body.maybeText('input') ?? '');
    const form = type === 'function' ? type : 'freeform';
    this.items.push({ type: 'tool_call', id, name, namespace: undefined, form, input });
  }

  /** @param calls calls of the same message: some servers write a call in both forms */
  #oldCall(call: Placed<ChatCallBody>, calls: readonly Item[]): void {
    const name = readName(call);
    const input = call.maybeText('arguments') || '{}';
    const isSame = (one: Item) =>
      one.type === 'tool_call' && one.name === name && canonicalInput(one.input) === canonicalInput(input);
    if (calls.some(isSame)) return;
    this.items.push({ type: 'tool_call', id: idOfOldCall(name), name, namespace: undefined, form: 'function', input });
  }

  #result(id: string, message: Placed<ChatMessage>): void {
    this.items.push({ type: 'tool_result', id, parts: this.#parts(message), isError: false });
  }
}

/** Calls in the deprecated form have no ids. `CallIds` makes repeated ids unique, as for any other call. */
function idOfOldCall(name: string): string {
  return `call_function_${name}`;
}

/** @throws GatewayError `invalid_request` */
function readPart(part: Placed<ChatPart>, notes: Notes): Part[] {
  const type = part.text('type');
  switch (type) {
    case 'text':
      return textPart(part.text('text'), hasBreakpoint(part.value));
    case 'refusal':
      return refusalPart(part.text('refusal'));
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

/** Some clients send the bare URL in place of the object that contains it. */
function readImage(part: Placed<ChatPart>, name: 'image_url' | 'video_url'): ImagePart {
  const value = part.get(name);
  if (typeof value === 'string') return { type: 'image', source: readUrl(value, part.at(name)), detail: undefined };
  const image = part.object<ChatImage>(name);
  const source = readUrl(image.text('url'), image.at('url'));
  return { type: 'image', source, detail: image.maybeText('detail') };
}
