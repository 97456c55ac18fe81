import { CallBlock, type OpenBlock, type StateTagger, TextBlock } from './open-block.ts';
import type { Block, Citation, ReplyEvent } from './reply.ts';

export interface BlockQueueOptions {
  readonly emit: (event: ReplyEvent) => void;
  readonly tag: StateTagger;
}

/**
 * The blocks of an answer, in the order in which they began. The first is live: its deltas are emitted at once. The
 * others are buffered until all before them are closed, so that interleaved calls come out in order.
 */
export class BlockQueue {
  /** Blocks that are complete and emitted. */
  readonly complete: Block[] = [];
  readonly #options: BlockQueueOptions;
  readonly #open: OpenBlock[] = [];
  #isLiveAnnounced = false;

  constructor(options: BlockQueueOptions) {
    this.#options = options;
  }

  /** The block that began last; undefined once it is emitted completely. */
  get last(): OpenBlock | undefined {
    return this.#open.at(-1);
  }

  /** The text so far; undefined when there is anything besides text and finished reasoning. */
  get plainText(): string | undefined {
    const isPlain =
      this.#open.every(({ head }) => head.type === 'text') && this.complete.every(({ type }) => type !== 'refusal');
    if (!isPlain) return undefined;
    const written = this.complete.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    return [...written, ...this.#open.map(({ text }) => text)].join('');
  }

  /** Begins a block. That ends the one before, unless it is a call, which ends with its input. */
  add<B extends OpenBlock>(block: B): B {
    const { last } = this;
    // A complete object cannot continue.
    if (last instanceof CallBlock) last.isClosed ||= last.isWhole;
    else if (last !== undefined) last.isClosed = true;
    this.#open.push(block);
    this.#advance();
    return block;
  }

  append(block: OpenBlock, text: string): void {
    block.text += text;
    if (this.#isLive(block)) this.#delta(block, text);
  }

  cite(block: TextBlock, citation: Citation): void {
    block.citations.push(citation);
    if (this.#isLive(block)) this.#citation(citation);
  }

  /** Nothing will be added to this block. */
  close(block: OpenBlock): void {
    block.isClosed = true;
    this.#advance();
  }

  closeAll(): void {
    for (const block of this.#open) block.isClosed = true;
    this.#advance();
  }

  #isLive(block: OpenBlock): boolean {
    return this.#open[0] === block && !block.isHeldBack;
  }

  /** Emits the closed blocks and what the next one has buffered. */
  #advance(): void {
    for (let live = this.#open[0]; live !== undefined; live = this.#open[0]) {
      if (!this.#isLiveAnnounced && live instanceof CallBlock) this.#announce(live);
      if (!live.isClosed) return;
      this.#closeLive(live);
      this.#open.shift();
      const next = this.#open[0];
      if (next !== undefined && !next.isHeldBack && next.text !== '') this.#release(next);
    }
  }

  /** Emits what a block has buffered while another was live. */
  #release(block: OpenBlock): void {
    this.#delta(block, block.text);
    for (const citation of block instanceof TextBlock ? block.citations : []) this.#citation(citation);
  }

  #closeLive(live: OpenBlock): void {
    const block = live.complete(this.#options.tag);
    const unsent = live.unsent(block);
    if (unsent === '') this.#announce(live);
    else this.#delta(live, unsent);
    this.#options.emit({ type: 'block_stop', index: this.#index, block });
    this.complete.push(block);
    this.#isLiveAnnounced = false;
  }

  #announce(block: OpenBlock): void {
    if (this.#isLiveAnnounced) return;
    this.#isLiveAnnounced = true;
    this.#options.emit({ type: 'block_start', index: this.#index, block: block.head });
  }

  #delta(block: OpenBlock, text: string): void {
    this.#announce(block);
    this.#options.emit({ type: 'block_delta', index: this.#index, block: block.head, text });
  }

  #citation(citation: Citation): void {
    this.#options.emit({ type: 'citation', index: this.#index, citation });
  }

  /** Index of the live block. */
  get #index(): number {
    return this.complete.length;
  }
}
