import type { Block, BlockHead, CallHead, ReplyEvent } from '../canonical/reply.ts';
import { canonicalArguments } from './canonical-arguments.ts';
import { ContentDigest } from './content-digest.ts';

/** Reason why a client gets content that differs from the upstream's; docs/honesty.md explains each. */
export type ContentChange =
  | 'arguments'
  | 'calls'
  | 'cut'
  | 'hidden_reasoning'
  | 'images_as_text'
  | 'paragraphs'
  | 'refusal'
  | 'stage'
  | 'tool_names';

/** Kinds of content that precede a block in the answer. */
export interface SaidBefore {
  readonly hasText: boolean;
  readonly hasRefusal: boolean;
  readonly hasReasoning: boolean;
  readonly last: BlockHead['type'] | undefined;
}

type CallBlock = CallHead & { readonly input: string };

/** Rules for the content of blocks as clients of a format receive it. */
export interface ContentForm {
  /** Returns the separator before the text of a block; missing if the format has none. */
  separator?(head: BlockHead, before: SaidBefore): string;
  /** Returns the arguments of a call; missing if they always equal its input. */
  argumentsOf?(call: CallBlock, isStream: boolean): string;
  /**
   * Returns true for a call whose arguments are sent only once they are complete.
   *
   * @param start start of the input, which contains more than white space
   */
  holdsInput?(head: CallHead, start: string): boolean;
  /** True if complete calls are sent together with the content that follows them. */
  readonly hasWholeCalls?: boolean;
  /** Maximum number of calls; further calls are omitted. */
  readonly mostCalls?: number;
  /** True if the client gets no reasoning. */
  readonly hidesReasoning?: boolean;
}

/** Collects the content of a translated answer that the client gets in its format. */
export class SentContent {
  readonly content = new ContentDigest();
  readonly changes = new Set<ContentChange>();
  readonly #form: ContentForm;
  readonly #before = {
    hasText: false,
    hasRefusal: false,
    hasReasoning: false,
    last: undefined as BlockHead['type'] | undefined,
  };
  #separator = '';
  /** True if the input of the open call is sent at its end; undefined until the input has begun. */
  #isHeld: boolean | undefined;
  #calls = 0;
  /** Complete calls that are sent together with the next content. */
  #waiting: { readonly key: number; readonly name: string; readonly input: string }[] = [];

  constructor(form: ContentForm = {}) {
    this.#form = form;
  }

  /** @param isStream true if the client gets the answer as events */
  take(event: ReplyEvent, isStream: boolean): void {
    switch (event.type) {
      case 'block_start':
        return this.#begin(event.index, event.block);
      case 'block_delta':
        return this.#add(event.index, event.block, event.text);
      case 'block_stop':
        return this.#end(event.index, event.block, isStream);
      case 'finish':
        return this.#send();
      default:
    }
  }

  #begin(index: number, head: BlockHead): void {
    this.#separator = this.#form.separator?.(head, this.#before) ?? '';
    this.#before.last = head.type;
    this.#isHeld = undefined;
    if (head.type === 'tool_call' && this.#form.hasWholeCalls !== true && this.#takesCall())
      this.content.call(index, head.name);
  }

  #add(index: number, head: BlockHead, text: string): void {
    const { type } = head;
    if (head.type === 'tool_call') return this.#addInput(index, head, text);
    if (type === 'reasoning' && this.#form.hidesReasoning === true) {
      this.changes.add('hidden_reasoning');
      return;
    }
    this.#send();
    const sentText = this.#separator === '' ? text : this.#separated(text);
    if (type === 'reasoning') {
      this.content.reasoning(sentText);
      this.#before.hasReasoning = true;
      return;
    }
    this.content.text(sentText);
    if (type === 'text') this.#before.hasText = true;
    else this.#before.hasRefusal = true;
  }

  #addInput(index: number, head: CallHead, text: string): void {
    if (this.#isHeld === undefined && text.trim() !== '')
      this.#isHeld = this.#form.holdsInput?.(head, text.trimStart()) === true;
    if (this.#isHeld === false) this.content.input(index, text);
  }

  #separated(text: string): string {
    this.changes.add('paragraphs');
    const separated = this.#separator + text;
    this.#separator = '';
    return separated;
  }

  #end(index: number, block: Block, isStream: boolean): void {
    if (block.type === 'image') return this.#send();
    if (block.type !== 'tool_call') return;
    const input = this.#form.argumentsOf?.(block, isStream) ?? block.input;
    if (input !== block.input && canonicalArguments(input) !== canonicalArguments(block.input))
      this.changes.add('arguments');
    if (this.#form.hasWholeCalls !== true) this.content.replaceInput(index, input);
    else if (this.#takesCall()) this.#waiting.push({ key: index, name: block.name, input });
  }

  /** Counts a call; returns false if the client gets no more calls. */
  #takesCall(): boolean {
    if (this.#calls >= (this.#form.mostCalls ?? Infinity)) {
      this.changes.add('calls');
      return false;
    }
    this.#calls++;
    return true;
  }

  #send(): void {
    if (this.#waiting.length === 0) return;
    for (const { key, name, input } of this.#waiting) {
      this.content.call(key, name);
      this.content.input(key, input);
    }
    this.#waiting = [];
  }
}
