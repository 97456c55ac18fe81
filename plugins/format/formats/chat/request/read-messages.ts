import type { JsonValue } from '#core/platform/json.ts';
import type { Item, Message, Part, ImagePart } from '../../../canonical/conversation.ts';
import { textOf } from '../../../canonical/dialogue.ts';
import { canonicalInput } from '../../../canonical/kept-reasoning.ts';
import { type Notes, refuseUnread } from '../../../canonical/notes.ts';
import { readName } from '../../../canonical/tools.ts';
import { invalid, isMissing, maybeList, maybeObject, maybeText, readObject, readText } from '../../../wire/read.ts';
import { readReasoning } from './read-reasoning.ts';
import type { ChatCall, ChatCallBody, ChatMessage, ChatImage, ChatPart } from '../../../wire/chat.ts';
import { placeParts, textPart } from '../../../canonical/media.ts';
import {
  endsCached,
  hasBreakpoint,
  readAudio,
  readContentParts,
  readFilePart,
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
  read(messages: JsonValue | undefined): void {
    if (!Array.isArray(messages) || messages.length === 0) throw invalid('messages', 'a list of at least one message');
    let count = 0;
    for (const [index, entry] of messages.entries()) {
      const path = `messages[${index}]`;
      count = this.items.length;
      const message: ChatMessage = readObject(entry, path);
      if (!isMissing(message.name) && message.role !== 'function') this.#notes.drop('name of messages');
      this.#message(message, path);
    }
    if (this.items.length === count) refuseUnread(`messages[${messages.length - 1}]`, this.#notes);
  }

  #message(message: ChatMessage, path: string): void {
    const role = readText(message.role, `${path}.role`);
    switch (role) {
      case 'system':
      case 'developer':
        return this.#system(this.#content(message, path));
      case 'user':
        return this.#say('user', this.#content(message, path));
      case 'assistant':
        return this.#assistant(message, path);
      case 'tool':
        return this.#result(readText(message.tool_call_id, `${path}.tool_call_id`), message, path);
      case 'function':
        return this.#result(idOfOldCall(readName(message, path)), message, path);
      default:
        throw invalid(`${path}.role`, 'developer, system, user, assistant or tool');
    }
  }

  #content(message: ChatMessage, path: string): Part[] {
    if (isMissing(message.content)) throw invalid(`${path}.content`, 'a string or a list of parts');
    return this.#parts(message, path);
  }

  /** A mark on the message is one on its last text. */
  #parts(message: ChatMessage, path: string): Part[] {
    const parts = readContent(message.content, `${path}.content`, this.#notes);
    const last = parts.findLastIndex(({ type }) => type === 'text');
    const part = hasBreakpoint(message) ? parts[last] : undefined;
    return part?.type === 'text' ? parts.with(last, { ...part, isBreakpoint: true }) : parts;
  }

  #system(parts: Part[]): void {
    if (this.items.length > 0) return this.#say('system', parts);
    if (endsCached(parts)) this.areInstructionsCached = true;
    const text = textOf(parts);
    if (text !== '') this.instructions.push(text);
    if (parts.some(({ type }) => type !== 'text')) this.#notes.drop('images and files in instructions');
  }

  #say(role: Message['role'], parts: readonly Part[]): void {
    if (parts.length > 0) this.items.push({ type: 'message', role, parts });
  }

  #assistant(message: ChatMessage, path: string): void {
    this.items.push(...readReasoning(message, path, this.#notes));
    const parts = this.#parts(message, path);
    const images = readImages(message.images, `${path}.images`, this.#notes);
    this.#say('assistant', [...parts, ...images, ...refusalPart(maybeText(message.refusal, `${path}.refusal`))]);
    if (!isMissing(message.audio)) this.#notes.drop('audio of assistant messages');
    const count = this.items.length;
    for (const [index, entry] of maybeList(message.tool_calls, `${path}.tool_calls`).entries()) {
      const callPath = `${path}.tool_calls[${index}]`;
      this.#call(readObject(entry, callPath), callPath);
    }
    const old = maybeObject(message.function_call, `${path}.function_call`);
    if (old !== undefined) this.#oldCall(old, this.items.slice(count), `${path}.function_call`);
  }

  #call(call: ChatCall, path: string): void {
    const type = maybeText(call.type, `${path}.type`) ?? 'function';
    if (type !== 'function' && type !== 'custom') return this.#notes.drop(`tool call ${type}`);
    const id = readText(call.id, `${path}.id`);
    const body: ChatCallBody = readObject(call[type], `${path}.${type}`);
    const name = readName(body, `${path}.${type}`);
    const head = { type: 'tool_call', id, name, namespace: undefined } as const;
    if (type === 'function') {
      const input = maybeText(body.arguments, `${path}.function.arguments`) || '{}';
      this.items.push({ ...head, form: 'function', input });
    } else {
      this.items.push({ ...head, form: 'freeform', input: maybeText(body.input, `${path}.custom.input`) ?? '' });
    }
  }

  /** @param calls of the same message: some servers write a call in both forms */
  #oldCall(call: ChatCallBody, calls: readonly Item[], path: string): void {
    const name = readName(call, path);
    const input = maybeText(call.arguments, `${path}.arguments`) || '{}';
    const isSame = (one: Item) =>
      one.type === 'tool_call' && one.name === name && canonicalInput(one.input) === canonicalInput(input);
    if (calls.some(isSame)) return;
    this.items.push({ type: 'tool_call', id: idOfOldCall(name), name, namespace: undefined, form: 'function', input });
  }

  #result(id: string, message: ChatMessage, path: string): void {
    const parts = this.#parts(message, path);
    this.items.push({ type: 'tool_result', id, parts, isError: false });
  }
}

/** Calls in the deprecated form have no ids. One that repeats is told apart as any other, see `CallIds`. */
function idOfOldCall(name: string): string {
  return `call_function_${name}`;
}

/**
 * Reads the content of a message: a string or a list of parts. Parts without text are left out.
 * Source: OpenAI API reference, "Create chat completion", `messages`.
 *
 * @throws GatewayError `invalid_request`
 */
function readContent(value: JsonValue | undefined, path: string, notes: Notes): Part[] {
  return readContentParts(value, path, (part, partPath) => readPart(part, partPath, notes));
}

function readPart(part: ChatPart, path: string, notes: Notes): Part[] {
  const type = readText(part.type, `${path}.type`);
  switch (type) {
    case 'text':
      return textPart(readText(part.text, `${path}.text`), hasBreakpoint(part));
    case 'refusal':
      return refusalPart(readText(part.refusal, `${path}.refusal`));
    case 'image_url':
      return [readImage(part.image_url, `${path}.image_url`)];
    case 'input_audio':
      return [readAudio(part.input_audio, `${path}.input_audio`)];
    case 'file':
      return [readFilePart(readObject(part.file, `${path}.file`), `${path}.file`, false)];
    case 'video_url':
      return [{ type: 'video', source: readImage(part.video_url, `${path}.video_url`).source }];
    default:
      notes.dropPart(`content part ${type}`, path);
      return [];
  }
}

/** Images that a model has made, as the gateway gave them. */
function readImages(value: JsonValue | undefined, path: string, notes: Notes): Part[] {
  return maybeList(value, path).flatMap((entry, index) => {
    const partPath = `${path}[${index}]`;
    return placeParts(readPart(readObject(entry, partPath), partPath, notes), partPath);
  });
}

/** Some clients send the URL itself in place of the object around it. */
function readImage(value: JsonValue | undefined, path: string): ImagePart {
  if (typeof value === 'string') return { type: 'image', source: readUrl(value, path), detail: undefined };
  const image: ChatImage = readObject(value, path);
  const url = readText(image.url, `${path}.url`);
  return { type: 'image', source: readUrl(url, `${path}.url`), detail: maybeText(image.detail, `${path}.detail`) };
}
