import { hash } from 'node:crypto';
import type { ContentDelta } from '#core/gateway/model-call/event-framer.ts';
import type { SkimmedContent } from '../canonical/codec.ts';
import type { Fragment } from '../canonical/reply.ts';
import { canonicalizeArguments } from './canonical-arguments.ts';
import { TextDigest } from './text-digest.ts';

const maxArgumentsLength = 1_048_576; // characters in total; an answer with more gets no digest

interface OpenCall {
  id: string | undefined;
  name: string;
  input: string;
}

type CallKey = string | number;

/**
 * Computes the digest of an answer's content in any format: its text (including refusals), its reasoning, and its calls with names and
 * arguments, each in order. docs/honesty.md specifies what is hashed and includes programs that compute the digest.
 */
export class ContentDigest implements SkimmedContent {
  readonly #text = new TextDigest();
  #reasoning: TextDigest | undefined;
  readonly #calls: OpenCall[] = [];
  readonly #openCalls = new Map<CallKey, OpenCall>();
  #argumentsLength = 0;

  addText(text: string): void {
    this.#text.add(text);
  }

  addReasoning(text: string): void {
    (this.#reasoning ??= new TextDigest()).add(text);
  }

  /** Starts a call, or adds the name or id of an open call. */
  startCall(key: CallKey, name: string | undefined, id?: string): void {
    const openCall = this.#openCalls.get(key);
    // Some vendors give every call the same index, so only another id shows that a new call begins.
    const isNew = id !== undefined && id !== '' && openCall?.id !== undefined && openCall.id !== id;
    if (openCall !== undefined && !isNew) {
      openCall.id ??= id === '' ? undefined : id;
      if (openCall.name === '') openCall.name = name ?? '';
      return;
    }
    const call = { id: id === '' ? undefined : id, name: name ?? '', input: '' };
    this.#openCalls.set(key, call);
    this.#calls.push(call);
  }

  addInput(key: CallKey, text: string): void {
    const call = this.#openCalls.get(key);
    if (call === undefined) return;
    this.#argumentsLength += text.length;
    if (this.#argumentsLength <= maxArgumentsLength) call.input += text;
    else for (const openCall of this.#calls) openCall.input = '';
  }

  endInput(key: CallKey, wholeInput: string | undefined): void {
    const call = this.#openCalls.get(key);
    if (call === undefined || wholeInput === undefined || wholeInput.length <= call.input.length) return;
    if (wholeInput.startsWith(call.input)) this.addInput(key, wholeInput.slice(call.input.length));
  }

  replaceInput(key: CallKey, input: string): void {
    const call = this.#openCalls.get(key);
    if (call === undefined || call.input === input) return;
    call.input = '';
    this.addInput(key, input);
  }

  addFragment(fragment: Fragment): void {
    switch (fragment.type) {
      case 'text':
        return this.addText(fragment.text);
      case 'refusal':
        return fragment.isReason === true ? undefined : this.addText(fragment.text);
      case 'reasoning':
        return this.addReasoning(fragment.text);
      case 'call':
        return this.startCall(fragment.key, fragment.name, fragment.id);
      case 'input':
        return this.addInput(fragment.key, fragment.text);
      case 'call_end':
        return this.endInput(fragment.key, fragment.input);
      default:
    }
  }

  /** Returns true if the contents can be shown to be equal without hashing. */
  hasSameContent(other: ContentDigest): boolean {
    const [text, reasoning] = [this.#text.text, this.#reasoning?.text];
    if (text === undefined || text !== other.#text.text || reasoning !== other.#reasoning?.text) return false;
    if (this.#reasoning !== undefined && reasoning === undefined) return false;
    const calls = this.#namedCalls;
    const otherCalls = other.#namedCalls;
    return (
      calls.length === otherCalls.length &&
      calls.every(({ name, input }, index) => name === otherCalls[index]?.name && input === otherCalls[index].input)
    );
  }

  /** The digest in hexadecimal; undefined if the answer has no content or its arguments are too long. */
  get digest(): string | undefined {
    if (this.#argumentsLength > maxArgumentsLength) return undefined;
    const reasoning = this.#reasoning?.isEmpty === false ? `reasoning ${this.#reasoning.digest()}\n` : '';
    const calls = this.#namedCalls.map(
      ({ name, input }) => `call ${sha256(`${name}\n${canonicalizeArguments(input)}`)}\n`,
    );
    const suffix = reasoning + calls.join('');
    return this.#text.isEmpty && suffix === '' ? undefined : this.#text.digest(suffix);
  }

  get #namedCalls(): readonly OpenCall[] {
    return this.#calls.length === 0 ? this.#calls : this.#calls.filter(({ name }) => name !== '');
  }
}

export function addDelta(content: SkimmedContent, { text, reasoning, input }: ContentDelta): void {
  if (text !== '') content.addText(text);
  if (reasoning !== '') content.addReasoning(reasoning);
  if (input !== undefined) content.addInput(input.key, input.text);
}

function sha256(text: string): string {
  return hash('sha256', text);
}
