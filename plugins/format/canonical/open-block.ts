import { type JsonObject, parseObject } from '#core/platform/json.ts';
import type { StateKind } from './conversation.ts';
import type { Block, BlockHead, CallHead, Citation } from './reply.ts';
import type { NamedTool } from './tool-names.ts';

/** Tags opaque reasoning state with its origin; without data, the tag only names the origin of the text. */
export type StateTagger = (kind: StateKind, data: string) => string;

/** A block that is not complete. */
export abstract class OpenBlock {
  abstract readonly head: BlockHead;
  /** The text so far. */
  text = '';
  /** True when nothing will be added. */
  isClosed = false;
  /** True when it can only be emitted as a whole. */
  get isHeldBack(): boolean {
    return false;
  }

  /** @param tag for reasoning */
  abstract complete(tag: StateTagger): Block;

  /** The part of the complete block that was not emitted as deltas. */
  unsent(_block: Block): string {
    return '';
  }
}

/** Text, with its citations, or a refusal. */
export class TextBlock extends OpenBlock {
  readonly head: { readonly type: 'text' | 'refusal' };
  readonly citations: Citation[] = [];

  constructor(type: 'text' | 'refusal') {
    super();
    this.head = { type };
  }

  complete(): Block {
    const { text } = this;
    return this.head.type === 'text' ? { type: 'text', text, citations: this.citations } : { type: 'refusal', text };
  }
}

/** The text of the reasoning, and the vendor's opaque state of it. */
export class ReasoningBlock extends OpenBlock {
  readonly head = { type: 'reasoning' } as const;
  state: { readonly kind: StateKind; readonly data: string } | undefined;

  complete(tag: StateTagger): Block {
    const { kind, data } = this.state ?? { kind: 'none', data: '' };
    return { type: 'reasoning', text: this.text, state: tag(kind, data), isRedacted: kind === 'redacted' };
  }
}

/** A tool call. It is queued once its name is known. */
export class CallBlock extends OpenBlock {
  head: CallHead = { type: 'tool_call', id: '', name: '', namespace: undefined, form: 'function' };
  givenId: string | undefined;
  name: NamedTool | undefined;
  /** True once it is queued: id and name are final. */
  hasBegun = false;
  /** Input that came before the name. */
  early = '';
  /** True for a freeform tool that travels as a function: its input is the one string in an object. */
  isWrapped = false;

  override get isHeldBack(): boolean {
    return this.isWrapped;
  }

  /** True when the input is a complete object. */
  get isWhole(): boolean {
    return this.head.form !== 'freeform' || this.isWrapped ? parsedObject(this.text) !== undefined : false;
  }

  /** True when the input is an object that is not complete. */
  get isTorn(): boolean {
    if (this.isClosed || (this.head.form === 'freeform' && !this.isWrapped)) return false;
    return this.text.trim() !== '' && !this.isWhole;
  }

  complete(): Block {
    return { ...this.head, input: this.#input() };
  }

  override unsent(block: Block): string {
    if (block.type !== 'tool_call') return '';
    return this.isWrapped ? block.input : block.input.slice(this.text.length);
  }

  #input(): string {
    if (this.isWrapped) return unwrap(this.text);
    if (this.head.form === 'freeform') return this.text;
    // White space is emitted already.
    return this.text.trim() === '' ? `${this.text}{}` : this.text;
  }
}

/** The string in `{"input": "…"}`; without that object, the text itself. */
function unwrap(text: string): string {
  const input = parsedObject(text)?.['input'];
  return typeof input === 'string' ? input : text;
}

function parsedObject(text: string): JsonObject | undefined {
  // Cheaper than parsing every incomplete object.
  return text.trimEnd().endsWith('}') ? parseObject(text) : undefined;
}
