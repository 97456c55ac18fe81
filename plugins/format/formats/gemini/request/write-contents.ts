import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Part, Reasoning, ToolCall, ToolResult } from '../../../canonical/conversation.ts';
import {
  type AssistantTurn,
  asReminder,
  type SystemTurn,
  textOf,
  type DialogueTurn,
  type UserTurn,
} from '../../../canonical/dialogue.ts';
import { isMedia } from '../../../canonical/media.ts';
import { objectInput } from '../../../canonical/tools.ts';
import { requiresSignatures, skipValidation } from './thought-signature.ts';
import { writeInput, writeOutput, writeText } from './write-content.ts';
import type { GeminiCall, GeminiContent, GeminiPart } from '../../../wire/gemini.ts';
import type { Editable } from '../../../wire/loose.ts';

interface Written {
  readonly role: 'user' | 'model';
  readonly parts: GeminiPart[];
}

/** The user's text where a conversation begins with something else. */
const opening = 'Begin.';

/**
 * Writes turns as contents: a user begins, both sides alternate, results follow their calls.
 * Source: Gemini API reference, "Content".
 */
export function writeContents(turns: readonly DialogueTurn[], target: EncodeTarget): GeminiContent[] {
  const writer = new ContentWriter(target);
  for (const turn of turns) {
    if (turn.role === 'user') writer.user(turn);
    else if (turn.role === 'assistant') writer.model(turn);
    else writer.system(turn);
  }
  return writer.finish();
}

class ContentWriter {
  readonly #target: EncodeTarget;
  readonly #contents: Written[] = [];
  /** Names of the called functions by id: results must repeat them. */
  readonly #names = new Map<string, string>();

  constructor(target: EncodeTarget) {
    this.#target = target;
  }

  user({ results, parts }: UserTurn): void {
    const shown: Part[] = [];
    const responses = results.map((result) => this.#result(result, shown));
    this.#push('user', [...responses, ...writeInput([...shown, ...parts], this.#target)]);
  }

  model({ items }: AssistantTurn): void {
    const parts = new ModelParts(requiresSignatures(this.#target.profile));
    for (const item of items) {
      if (item.type === 'message') parts.say(writeOutput(item.parts, this.#target));
      else if (item.type === 'tool_call') parts.call(this.#call(item));
      else parts.sign(this.#signature(item));
    }
    this.#push('model', parts.finish());
    if (parts.hasSkipped) this.#target.notes.approximate('missing thought signatures');
  }

  system({ parts }: SystemTurn): void {
    const text = textOf(parts);
    if (text.trim() === '') return;
    this.#target.notes.approximate('late system message as user message');
    this.#push('user', writeText(asReminder(text)));
  }

  finish(): GeminiContent[] {
    if (this.#contents[0]?.role !== 'user') {
      this.#target.notes.approximate('a conversation without a user at its beginning');
      this.#contents.unshift({ role: 'user', parts: writeText(opening) });
    }
    return this.#contents.map(({ role, parts }) => ({ role, parts }));
  }

  #push(role: Written['role'], parts: GeminiPart[]): void {
    if (parts.length === 0) return;
    const last = this.#contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else this.#contents.push({ role, parts: [...parts] });
  }

  /** Only a signature that this upstream has made. It does not take the text of thoughts back. */
  #signature({ state }: Reasoning): string {
    const signature = this.#target.ownState(state) ?? '';
    if (signature === '') this.#target.notes.drop('reasoning of earlier turns');
    return signature;
  }

  #call(call: ToolCall): GeminiCall {
    const name = this.#target.names.toWire(call.name, call.namespace);
    this.#names.set(call.id, name);
    return { ...this.#id(call.id), name, args: objectInput(call, this.#target.notes) };
  }

  /** Older models do not know ids; they match calls and results by their order. */
  #id(id: string): GeminiCall {
    return this.#target.profile.quirks.tool_schema === 'subset' ? {} : { id };
  }

  /** @param shown takes the parts that the result itself cannot hold */
  #result({ id, parts, isError }: ToolResult, shown: Part[]): GeminiPart {
    const others = parts.filter(isMedia);
    const holdsAll = this.#target.profile.quirks.tool_result_images;
    if (!holdsAll && others.length > 0) {
      this.#target.notes.approximate('images in tool results as user message');
      shown.push(...others);
    }
    const inner = holdsAll ? writeInput(others, this.#target) : [];
    const text = textOf(parts);
    return {
      functionResponse: {
        ...this.#id(id),
        name: this.#names.get(id) ?? 'unknown',
        response: isError ? { error: text === '' ? 'Error without a message.' : text } : { result: text },
        ...(inner.length > 0 && { parts: inner }),
      },
    };
  }
}

/**
 * The parts of one answer. A signature goes with the next call or image, also across a text: Chat clients return all reasoning before
 * the text, and Google wants the signature on the call. Without a following call it goes with the text.
 */
class ModelParts {
  hasSkipped = false;
  readonly #needsSignature: boolean;
  readonly #parts: Editable<GeminiPart>[] = [];
  #signature = '';
  #hasCalled = false;

  constructor(needsSignature: boolean) {
    this.#needsSignature = needsSignature;
  }

  sign(signature: string): void {
    if (signature === '') return;
    this.#place();
    this.#signature = signature;
  }

  say(parts: readonly GeminiPart[]): void {
    for (const part of parts) this.#parts.push(typeof part.text === 'string' ? part : this.#signed(part, true));
  }

  call(functionCall: GeminiCall): void {
    this.#parts.push(this.#signed({ functionCall }, !this.#hasCalled));
    this.#hasCalled = true;
  }

  /** @param isChecked Google refuses the part without a signature: the first call, and every image that it has made */
  #signed(part: GeminiPart, isChecked: boolean): GeminiPart {
    const isSkipped = this.#signature === '' && isChecked && this.#needsSignature;
    const thoughtSignature = isSkipped ? skipValidation : this.#signature;
    this.hasSkipped ||= isSkipped;
    this.#signature = '';
    return thoughtSignature === '' ? part : { ...part, thoughtSignature };
  }

  finish(): GeminiPart[] {
    this.#place();
    return this.#parts;
  }

  /** A signature without a following call goes with the text before it, or is a part of its own. */
  #place(): void {
    if (this.#signature === '') return;
    const last = this.#parts.at(-1);
    const isUnsigned = last !== undefined && typeof last.text === 'string' && last.thoughtSignature === undefined;
    if (isUnsigned) last.thoughtSignature = this.#signature;
    else this.#parts.push({ text: '', thoughtSignature: this.#signature });
    this.#signature = '';
  }
}
