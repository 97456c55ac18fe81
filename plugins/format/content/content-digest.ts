import { hash } from 'node:crypto';
import type { ContentDelta } from '#core/gateway/model-call/event-framer.ts';
import type { SkimmedContent } from '../canonical/codec.ts';
import type { Fragment } from '../canonical/reply.ts';
import { canonicalArguments } from './canonical-arguments.ts';
import { TextDigest } from './text-digest.ts';

/** Maximum characters of all arguments of an answer; a longer answer has no digest. */
const longestArguments = 1_048_576;

interface OpenCall {
  /** The id as given by the upstream. */
  id: string | undefined;
  name: string;
  input: string;
}

type Key = string | number;

/**
 * Digest of the documented content of an answer in any format: its text (including refusals), its reasoning, and its calls with names and
 * arguments, each in order. docs/honesty.md specifies the form that is hashed, and has programs that compute it from an answer.
 */
export class ContentDigest implements SkimmedContent {
  readonly #text = new TextDigest();
  #reasoning: TextDigest | undefined;
  readonly #calls: OpenCall[] = [];
  /** Calls that may continue. */
  readonly #open = new Map<Key, OpenCall>();
  #argumentsLength = 0;

  text(text: string): void {
    this.#text.add(text);
  }

  reasoning(text: string): void {
    (this.#reasoning ??= new TextDigest()).add(text);
  }

  call(key: Key, name: string | undefined, id?: string): void {
    const known = this.#open.get(key);
    // Some vendors give every call the same index.
    const isOther = id !== undefined && id !== '' && known?.id !== undefined && known.id !== id;
    if (known !== undefined && !isOther) {
      known.id ??= id === '' ? undefined : id;
      if (known.name === '') known.name = name ?? '';
      return;
    }
    const opened = { id: id === '' ? undefined : id, name: name ?? '', input: '' };
    this.#open.set(key, opened);
    this.#calls.push(opened);
  }

  input(key: Key, text: string): void {
    const call = this.#open.get(key);
    if (call === undefined) return;
    this.#argumentsLength += text.length;
    if (this.#argumentsLength <= longestArguments) call.input += text;
    else this.#forget();
  }

  /** @param whole the whole input, if the end of the call repeats it */
  endInput(key: Key, whole: string | undefined): void {
    const call = this.#open.get(key);
    if (call === undefined || whole === undefined || whole.length <= call.input.length) return;
    if (whole.startsWith(call.input)) this.input(key, whole.slice(call.input.length));
  }

  /** Replaces the input of a call with another form of it. */
  replaceInput(key: Key, input: string): void {
    const call = this.#open.get(key);
    if (call === undefined || call.input === input) return;
    call.input = '';
    this.input(key, input);
  }

  take(fragment: Fragment): void {
    switch (fragment.type) {
      case 'text':
        return this.text(fragment.text);
      case 'refusal':
        return fragment.isReason === true ? undefined : this.text(fragment.text);
      case 'reasoning':
        return this.reasoning(fragment.text);
      case 'call':
        return this.call(fragment.key, fragment.name, fragment.id);
      case 'input':
        return this.input(fragment.key, fragment.text);
      case 'call_end':
        return this.endInput(fragment.key, fragment.input);
      default:
    }
  }

  /** True if both are known to have the same content without hashing. */
  isSame(other: ContentDigest): boolean {
    const [text, reasoning] = [this.#text.kept, this.#reasoning?.kept];
    if (text === undefined || text !== other.#text.kept || reasoning !== other.#reasoning?.kept) return false;
    if (this.#reasoning !== undefined && reasoning === undefined) return false;
    const calls = this.#named;
    const others = other.#named;
    return (
      calls.length === others.length &&
      calls.every(({ name, input }, at) => name === others[at]?.name && input === others[at].input)
    );
  }

  /** The digest in hexadecimal; undefined for an answer without content or with too long arguments. */
  get digest(): string | undefined {
    if (this.#argumentsLength > longestArguments) return undefined;
    const reasoning = this.#reasoning?.isEmpty === false ? `reasoning ${this.#reasoning.digest()}\n` : '';
    const calls = this.#named.map(({ name, input }) => `call ${digestOf(`${name}\n${canonicalArguments(input)}`)}\n`);
    const behind = reasoning + calls.join('');
    return this.#text.isEmpty && behind === '' ? undefined : this.#text.digest(behind);
  }

  get #named(): readonly OpenCall[] {
    return this.#calls.length === 0 ? this.#calls : this.#calls.filter(({ name }) => name !== '');
  }

  /** Drops the arguments of all calls, because they will not be hashed. */
  #forget(): void {
    for (const call of this.#calls) call.input = '';
  }
}

/** Takes the content of an event. */
export function takeSaid(content: SkimmedContent, { text, reasoning, input }: ContentDelta): void {
  if (text !== '') content.text(text);
  if (reasoning !== '') content.reasoning(reasoning);
  if (input !== undefined) content.input(input.key, input.text);
}

function digestOf(text: string): string {
  return hash('sha256', text);
}
