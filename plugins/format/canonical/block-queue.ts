import { CallBlock, type OpenBlock, type StateTagger, TextBlock } from './open-block.ts';
import type { Block, Citation, ReplyEvent } from './reply.ts';

export interface BlockQueueOptions {
  readonly emit: (event: ReplyEvent) => void;
  readonly tag: StateTagger;
}

/**
 * The blocks of an answer on their way out, in the order in which they began. The first is live: its deltas go out at
 * once. The others collect until all before them are closed, which is how calls that arrive interleaved come out in
 * order.
 */
export class BlockQueue {
  /** What has gone out as a whole. */
  readonly complete: Block[] = [];
  readonly #options: BlockQueueOptions;
  readonly #open: OpenBlock[] = [];
  #isLiveAnnounced = false;

  constructor(options: BlockQueueOptions) {
    this.#options = options;
  }

  /** The block that began last, as long as it has not gone out as a whole. */
  get last(): OpenBlock | undefined {
    return this.#open.at(-1);
  }

  /** What has been written, where that is nothing but text and thoughts at their end. Undefined otherwise. */
  get plainText(): string | undefined {
    const isPlain =
      this.#open.every(({ head }) => head.type === 'text') && this.complete.every(({ type }) => type !== 'refusal');
    if (!isPlain) return undefined;
    const written = this.complete.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    return [...written, ...this.#open.map(({ text }) => text)].join('');
  }

  /** A block begins. What stood before it has ended with that, unless it is a call: its end shows in its input. */
  add<B extends OpenBlock>(block: B): B {
    const { last } = this;
    // A whole object cannot go on.
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

  /** Lets go of the blocks that are closed, and of what the next one has collected. */
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

  /** Lets go of what a block has collected while another was live. */
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

  /** Of the live block. */
  get #index(): number {
    return this.complete.length;
  }
}
