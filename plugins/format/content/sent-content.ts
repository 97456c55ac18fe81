import type { Block, BlockHead, CallHead, ReplyEvent } from '../canonical/reply.ts';
import { canonicalizeArguments } from './canonical-arguments.ts';
import { ContentDigest } from './content-digest.ts';

/** Why the client's content differs from the upstream's; docs/honesty.md explains each reason. */
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

export interface PrecedingContent {
  readonly hasText: boolean;
  readonly hasRefusal: boolean;
  readonly hasReasoning: boolean;
  readonly lastType: BlockHead['type'] | undefined;
}

type CallBlock = CallHead & { readonly input: string };

/** How the content of blocks differs once clients of a format receive it. */
export interface ContentForm {
  /** Returns the separator before a block's text; missing if the format has none. */
  writeSeparator?(head: BlockHead, before: PrecedingContent): string;
  /** Returns a call's arguments; missing if they always equal its input. */
  writeArguments?(call: CallBlock, isStream: boolean): string;
  /** Returns true if the arguments are only sent once they are complete. `start` is their beginning and is never only white space. */
  sendsInputAtEnd?(head: CallHead, start: string): boolean;
  /** True if complete calls are sent together with the content that follows them. */
  readonly sendsWholeCalls?: boolean;
  /** The most calls that are sent; further calls are omitted. */
  readonly maxCalls?: number;
  readonly hidesReasoning?: boolean;
}

/** Collects the content of a translated answer as the client gets it in its format. */
export class SentContent {
  readonly content = new ContentDigest();
  readonly changes = new Set<ContentChange>();
  readonly #form: ContentForm;
  readonly #preceding = {
    hasText: false,
    hasRefusal: false,
    hasReasoning: false,
    lastType: undefined as BlockHead['type'] | undefined,
  };
  #separator = '';
  #isInputHeld: boolean | undefined; // undefined until the call's input has begun
  #callCount = 0;
  #heldCalls: { readonly key: number; readonly name: string; readonly input: string }[] = [];

  constructor(form: ContentForm = {}) {
    this.#form = form;
  }

  addEvent(event: ReplyEvent, isStream: boolean): void {
    switch (event.type) {
      case 'block_start':
        return this.#beginBlock(event.index, event.block);
      case 'block_delta':
        return this.#addText(event.index, event.block, event.text);
      case 'block_stop':
        return this.#endBlock(event.index, event.block, isStream);
      case 'finish':
        return this.#sendHeldCalls();
      default:
    }
  }

  #beginBlock(index: number, head: BlockHead): void {
    this.#separator = this.#form.writeSeparator?.(head, this.#preceding) ?? '';
    this.#preceding.lastType = head.type;
    this.#isInputHeld = undefined;
    if (head.type === 'tool_call' && this.#form.sendsWholeCalls !== true && this.#admitCall())
      this.content.startCall(index, head.name);
  }

  #addText(index: number, head: BlockHead, text: string): void {
    const { type } = head;
    if (head.type === 'tool_call') return this.#addInput(index, head, text);
    if (type === 'reasoning' && this.#form.hidesReasoning === true) {
      this.changes.add('hidden_reasoning');
      return;
    }
    this.#sendHeldCalls();
    const sentText = this.#separator === '' ? text : this.#prependSeparator(text);
    if (type === 'reasoning') {
      this.content.addReasoning(sentText);
      this.#preceding.hasReasoning = true;
      return;
    }
    this.content.addText(sentText);
    if (type === 'text') this.#preceding.hasText = true;
    else this.#preceding.hasRefusal = true;
  }

  #addInput(index: number, head: CallHead, text: string): void {
    if (this.#isInputHeld === undefined && text.trim() !== '')
      this.#isInputHeld = this.#form.sendsInputAtEnd?.(head, text.trimStart()) === true;
    if (this.#isInputHeld === false) this.content.addInput(index, text);
  }

  #prependSeparator(text: string): string {
    this.changes.add('paragraphs');
    const separated = this.#separator + text;
    this.#separator = '';
    return separated;
  }

  #endBlock(index: number, block: Block, isStream: boolean): void {
    if (block.type === 'image') return this.#sendHeldCalls();
    if (block.type !== 'tool_call') return;
    const input = this.#form.writeArguments?.(block, isStream) ?? block.input;
    if (input !== block.input && canonicalizeArguments(input) !== canonicalizeArguments(block.input))
      this.changes.add('arguments');
    if (this.#form.sendsWholeCalls !== true) this.content.replaceInput(index, input);
    else if (this.#admitCall()) this.#heldCalls.push({ key: index, name: block.name, input });
  }

  #admitCall(): boolean {
    if (this.#callCount >= (this.#form.maxCalls ?? Infinity)) {
      this.changes.add('calls');
      return false;
    }
    this.#callCount++;
    return true;
  }

  #sendHeldCalls(): void {
    if (this.#heldCalls.length === 0) return;
    for (const { key, name, input } of this.#heldCalls) {
      this.content.startCall(key, name);
      this.content.addInput(key, input);
    }
    this.#heldCalls = [];
  }
}
