import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { CollectedText } from '#core/platform/memory/collected-text.ts';
import type { MediaSource, StateKind } from './conversation.ts';
import type { Block, BlockHead, CallHead, Citation, Logprob, ReplyEvent, TextHead } from './reply.ts';
import type { ToolReference } from './tool-names.ts';

/** Tags opaque reasoning state with its origin. If `data` is empty, the tag only names the origin of the text. */
export type StateTagger = (kind: StateKind, data: string) => string;

interface BlockQueueOptions {
  readonly emit: (event: ReplyEvent) => void;
  readonly tag: StateTagger;
  readonly hidesReasoning: boolean;
  readonly onHidden: () => void;
}

/**
 * The blocks of an answer, in the order they began. The first open block is live: its deltas are emitted immediately. Later blocks are
 * buffered until all earlier ones are closed, so that interleaved calls come out one after the other.
 */
export class BlockQueue {
  readonly completeBlocks: Block[] = [];
  readonly #options: BlockQueueOptions;
  readonly #openBlocks: OpenBlock[] = [];
  #isLiveStarted = false;
  #emittedCount = 0;

  constructor(options: BlockQueueOptions) {
    this.#options = options;
  }

  /** The most recently added block; undefined once it has been emitted in full. */
  get lastBlock(): OpenBlock | undefined {
    return this.#openBlocks.at(-1);
  }

  /** The text so far; undefined if the answer contains anything except text and finished reasoning. */
  get plainText(): string | undefined {
    const isPlain =
      this.#openBlocks.every(({ head }) => head.type === 'text') &&
      this.completeBlocks.every(({ type }) => type !== 'refusal' && type !== 'image');
    if (!isPlain) return undefined;
    const completeTexts = this.completeBlocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    return [...completeTexts, ...this.#openBlocks.map(({ text }) => text)].join('');
  }

  /** Closes the previous block, unless it is a call whose input is incomplete. */
  add<B extends OpenBlock>(block: B): B {
    const { lastBlock: last } = this;
    if (last instanceof CallBlock) last.isClosed ||= last.hasWholeInput;
    else if (last !== undefined) last.isClosed = true;
    this.#openBlocks.push(block);
    this.#advance();
    return block;
  }

  appendText(block: OpenBlock, text: string, logprobs?: readonly Logprob[]): void {
    block.add(text);
    if (logprobs !== undefined && block instanceof TextBlock) block.logprobs.push(...logprobs);
    if (this.#isLive(block)) this.#emitDelta(block, text, logprobs);
  }

  addCitation(block: TextBlock, citation: Citation): void {
    block.citations.push(citation);
    if (this.#isLive(block)) this.#emitCitation(citation);
  }

  close(block: OpenBlock): void {
    block.isClosed = true;
    this.#advance();
  }

  closeAll(): void {
    for (const block of this.#openBlocks) block.isClosed = true;
    this.#advance();
  }

  #isLive(block: OpenBlock): boolean {
    return this.#openBlocks[0] === block && !block.isHeldBack;
  }

  /** Emits the closed blocks, then the buffered part of the new live block. */
  #advance(): void {
    for (let live = this.#openBlocks[0]; live !== undefined; live = this.#openBlocks[0]) {
      if (!this.#isLiveStarted && live instanceof CallBlock) this.#emitStart(live);
      if (!live.isClosed) return;
      this.#closeLive(live);
      this.#openBlocks.shift();
      const next = this.#openBlocks[0];
      if (next !== undefined && !next.isHeldBack && next.hasText) this.#emitBuffered(next);
    }
  }

  #emitBuffered(block: OpenBlock): void {
    this.#emitDelta(block, block.text, block instanceof TextBlock ? block.logprobs : undefined);
    for (const citation of block instanceof TextBlock ? block.citations : []) this.#emitCitation(citation);
  }

  #closeLive(live: OpenBlock): void {
    const block = live.complete(this.#options.tag);
    const unsent = live.getUnsentText(block);
    if (unsent === '') this.#emitStart(live);
    else this.#emitDelta(live, unsent);
    this.#emit(live.head, { type: 'block_stop', index: this.#emittedCount, block });
    this.completeBlocks.push(block);
    if (!this.#isHidden(live.head)) this.#emittedCount++;
    this.#isLiveStarted = false;
  }

  #emitStart(block: OpenBlock): void {
    if (this.#isLiveStarted) return;
    this.#isLiveStarted = true;
    this.#emit(block.head, { type: 'block_start', index: this.#emittedCount, block: block.head });
  }

  #emitDelta(block: OpenBlock, text: string, logprobs: readonly Logprob[] = []): void {
    this.#emitStart(block);
    const delta: ReplyEvent = { type: 'block_delta', index: this.#emittedCount, block: block.head, text };
    this.#emit(block.head, logprobs.length > 0 ? { ...delta, logprobs: [...logprobs] } : delta);
  }

  #emitCitation(citation: Citation): void {
    this.#options.emit({ type: 'citation', index: this.#emittedCount, citation });
  }

  #emit(head: BlockHead, event: ReplyEvent): void {
    if (this.#isHidden(head)) this.#options.onHidden();
    else this.#options.emit(event);
  }

  #isHidden(head: BlockHead): boolean {
    return this.#options.hidesReasoning && head.type === 'reasoning';
  }
}

/** A block that is still arriving or waits for earlier blocks. */
export abstract class OpenBlock {
  abstract readonly head: BlockHead;
  readonly #text = new CollectedText();
  isClosed = false;

  get text(): string {
    return this.#text.text;
  }

  get hasText(): boolean {
    return this.#text.length > 0;
  }

  add(text: string): void {
    this.#text.add(text);
  }

  /** True if the block can only be emitted once it is complete. */
  get isHeldBack(): boolean {
    return false;
  }

  abstract complete(tag: StateTagger): Block;

  getUnsentText(_block: Block): string {
    return '';
  }
}

export class TextBlock extends OpenBlock {
  readonly head: TextHead | { readonly type: 'refusal' };
  readonly citations: Citation[] = [];
  readonly logprobs: Logprob[] = [];

  constructor(type: 'text' | 'refusal', isParagraph = false) {
    super();
    this.head = type === 'text' && isParagraph ? { type, isParagraph } : { type };
  }

  complete(): Block {
    const { text, citations, logprobs } = this;
    if (this.head.type === 'refusal') return { type: 'refusal', text };
    return { ...this.head, text, citations, ...(logprobs.length > 0 && { logprobs }) };
  }
}

export class OpenImage extends OpenBlock {
  readonly head = { type: 'image' } as const;
  readonly #source: MediaSource;

  constructor(source: MediaSource) {
    super();
    this.#source = source;
    this.isClosed = true;
  }

  complete(): Block {
    return { type: 'image', source: this.#source };
  }
}

export class ReasoningBlock extends OpenBlock {
  readonly head = { type: 'reasoning' } as const;
  state: { readonly kind: StateKind; readonly data: string } | undefined;

  complete(tag: StateTagger): Block {
    const { kind, data } = this.state ?? { kind: 'none', data: '' };
    return { type: 'reasoning', text: this.text, state: tag(kind, data), isRedacted: kind === 'redacted' };
  }
}

export class CallBlock extends OpenBlock {
  head: CallHead = { type: 'tool_call', id: '', name: '', namespace: undefined, form: 'function' };
  givenId: string | undefined;
  name: ToolReference | undefined;
  /** Once queued, the call's id and name are final. */
  isQueued = false;
  /** Input that arrived before the name. */
  readonly earlyInput = new CollectedText();
  /** True for a freeform tool that was sent as a function taking an object with a single string. */
  isWrapped = false;

  override get isHeldBack(): boolean {
    return this.isWrapped;
  }

  get #expectsJson(): boolean {
    return this.head.form !== 'freeform' || this.isWrapped;
  }

  get hasWholeInput(): boolean {
    return this.#expectsJson && parseCompleteObject(this.text) !== undefined;
  }

  get hasPartialInput(): boolean {
    if (this.isClosed || !this.#expectsJson) return false;
    return this.text.trim() !== '' && !this.hasWholeInput;
  }

  complete(): Block {
    return { ...this.head, input: this.#readInput() };
  }

  override getUnsentText(block: Block): string {
    if (block.type !== 'tool_call') return '';
    return this.isWrapped ? block.input : block.input.slice(this.text.length);
  }

  #readInput(): string {
    if (this.isWrapped) return unwrapInput(this.text);
    if (this.head.form === 'freeform') return this.text;
    // The white space has already been emitted, so it must stay.
    return this.text.trim() === '' ? `${this.text}{}` : this.text;
  }
}

function unwrapInput(text: string): string {
  const input = parseCompleteObject(text)?.['input'];
  return typeof input === 'string' ? input : text;
}

function parseCompleteObject(text: string): JsonObject | undefined {
  // Checking the last character is cheaper than parsing every incomplete object.
  return text.trimEnd().endsWith('}') ? parseObject(text) : undefined;
}
