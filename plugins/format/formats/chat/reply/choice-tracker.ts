import { hash } from 'node:crypto';
import type { MediaSource } from '../../../canonical/conversation.ts';
import type { ChatMessage } from '../../../wire/chat.ts';
import { type CallPiece, CallTracker } from './call-tracker.ts';
import { type MessageContent, readMessage } from './read-reply.ts';
import { TextTracker } from './text-tracker.ts';
import { type SplitText, ThinkSplitter } from './think-splitter.ts';

/** The content that a delta or a message adds to a choice, in this order. */
export interface ChoiceUpdate extends Omit<MessageContent, 'isFromDetails' | 'calls'> {
  readonly calls: readonly CallPiece[];
}

export interface ChoiceTrackerOptions {
  /** True if the text begins with the reasoning, between <think> and </think>. */
  readonly inlineThinking?: boolean;
}

/**
 * Reads one choice of a reply and tolerates the deviations of all vendors: drops repeated content and assigns every piece of a call to its
 * call. Decoders turn the updates into fragments. For same-format routes, the repair writes them back into the reply.
 */
export class ChoiceTracker {
  readonly #callTracker = new CallTracker();
  readonly #text = new TextTracker();
  readonly #reasoning = new TextTracker();
  readonly #refusal = new TextTracker();
  readonly #splitter: ThinkSplitter | undefined;
  #imageCount = 0;
  #deltaImageDigests: Set<string> | undefined;
  #isFinished = false;

  constructor({ inlineThinking = false }: ChoiceTrackerOptions = {}) {
    this.#splitter = inlineThinking ? new ThinkSplitter() : undefined;
  }

  get callTracker(): CallTracker {
    return this.#callTracker;
  }

  get isEmpty(): boolean {
    const hasText = !this.#text.isEmpty || !this.#reasoning.isEmpty || !this.#refusal.isEmpty;
    return !hasText && this.#imageCount === 0 && this.#callTracker.calls.length === 0;
  }

  /** True if text and reasoning can be passed through unchanged, except for repetitions. */
  get isPlain(): boolean {
    return !this.#isFinished && !this.#reasoning.isCumulative && (this.#splitter?.isDone ?? true);
  }

  /** Appends a delta with only text or reasoning; `isPlain` must be true. Returns false for a repetition, which is not appended. */
  tryAppendPlainDelta(text: string, reasoning: string): boolean {
    if (this.#reasoning.isRepetition(reasoning)) return false;
    this.#text.appendDelta(text);
    this.#reasoning.appendDelta(reasoning);
    return true;
  }

  applyDelta(delta: ChatMessage): ChoiceUpdate {
    const content = readMessage(delta);
    const images = this.#selectNewImages(content.images);
    // Vendors may repeat content after the finish reason.
    if (this.#isFinished)
      return this.#applyRepeated({ ...content, images }, (tracker, text) => tracker.appendAfterFinish(text));
    const reasoning = content.isFromDetails
      ? this.#reasoning.appendDeltaOrSnapshot(content.reasoning)
      : this.#reasoning.appendUnlessRepeated(content.reasoning);
    // A vendor that repeats all reasoning so far also repeats all text.
    const isCumulative = this.#reasoning.isCumulative;
    const text = isCumulative ? this.#text.appendDeltaOrSnapshot(content.text) : this.#text.appendDelta(content.text);
    return {
      ...this.#split(reasoning, text),
      refusal: this.#refusal.appendDelta(content.refusal),
      citations: content.citations,
      images,
      calls: this.#callTracker.addDeltaEntries(content.calls),
    };
  }

  /** Applies a whole message, which is either the reply itself or a repetition of the deltas. */
  applyMessage(message: ChatMessage): ChoiceUpdate {
    const content = readMessage(message);
    // A message repeats the images of the deltas, in the same order.
    const images = content.images.slice(this.#imageCount);
    this.#imageCount += images.length;
    return this.#applyRepeated({ ...content, images }, (tracker, text) => tracker.appendSnapshot(text));
  }

  /** Ends the choice and returns what was held back. */
  finish(): SplitText & Pick<ChoiceUpdate, 'calls'> {
    this.#isFinished = true;
    const heldContent = this.#splitter?.finish() ?? { reasoning: '', text: '' };
    return { ...this.#preferMember('', heldContent), calls: this.#callTracker.releaseHeld() };
  }

  #applyRepeated(content: MessageContent, appendNew: (tracker: TextTracker, text: string) => string): ChoiceUpdate {
    const reasoning = appendNew(this.#reasoning, content.reasoning);
    return {
      ...this.#split(reasoning, appendNew(this.#text, content.text)),
      refusal: appendNew(this.#refusal, content.refusal),
      citations: content.citations,
      images: content.images,
      calls: this.#callTracker.addMessageEntries(content.calls),
    };
  }

  #selectNewImages(images: readonly MediaSource[]): readonly MediaSource[] {
    if (images.length === 0) return images;
    const digests = (this.#deltaImageDigests ??= new Set());
    const newImages = images.filter((image) => !digests.has(computeDigest(image)));
    for (const image of images) digests.add(computeDigest(image));
    const selected = this.#isFinished ? newImages : images;
    this.#imageCount += selected.length;
    return selected;
  }

  #split(reasoning: string, text: string): SplitText {
    return this.#preferMember(reasoning, this.#splitter?.take(text) ?? { reasoning: '', text });
  }

  #preferMember(reasoning: string, split: SplitText): SplitText {
    // MiniMax may send the same reasoning in a member and in the text.
    return { reasoning: this.#reasoning.isEmpty ? split.reasoning : reasoning, text: split.text };
  }
}

function computeDigest(image: MediaSource): string {
  return hash('sha1', image.type === 'url' ? image.url : image.data);
}
