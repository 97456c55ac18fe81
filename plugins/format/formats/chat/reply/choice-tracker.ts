import type { MediaSource } from '../../../canonical/conversation.ts';
import { type CallPiece, CallTracker } from './call-tracker.ts';
import { type MessageContent, readMessage } from './read-reply.ts';
import { TextTracker } from './text-tracker.ts';
import type { ChatMessage } from '../../../wire/chat.ts';

/** The content that a delta or a message adds to a reply, in this order. */
export interface ChoiceUpdate extends Omit<MessageContent, 'isDetailed' | 'calls'> {
  readonly calls: readonly CallPiece[];
}

export interface ChoiceTrackerOptions {
  /** True if the text contains the reasoning, between <think> and </think>. */
  readonly inlineThinking?: boolean;
}

/**
 * Reads one answer of a reply and tolerates the deviations of all vendors: drops repetitions and assigns every piece of
 * a call to its call. Decoders turn the result into fragments; the repair of same-format routes writes the result in
 * place.
 */
export class ChoiceTracker {
  readonly #calls = new CallTracker();
  readonly #text = new TextTracker();
  readonly #reasoning = new TextTracker();
  readonly #refusal = new TextTracker();
  readonly #splitter: ThinkSplitter | undefined;
  #images = 0;
  #isFinished = false;

  constructor({ inlineThinking = false }: ChoiceTrackerOptions = {}) {
    this.#splitter = inlineThinking ? new ThinkSplitter() : undefined;
  }

  get calls(): CallTracker {
    return this.#calls;
  }

  get isEmpty(): boolean {
    const hasText = !this.#text.isEmpty || !this.#reasoning.isEmpty || !this.#refusal.isEmpty;
    return !hasText && this.#images === 0 && this.#calls.calls.length === 0;
  }

  /** True when text and reasoning pass unchanged, unless a piece is a repetition. */
  get isPlain(): boolean {
    return !this.#isFinished && !this.#reasoning.isCumulative && this.#splitter?.isDone !== false;
  }

  /** Takes a delta that contains only text or reasoning. Returns false, without taking it, if it is a repetition. */
  plain(text: string, reasoning: string): boolean {
    if (this.#reasoning.isRepetition(reasoning)) return false;
    this.#text.piece(text);
    this.#reasoning.piece(reasoning);
    return true;
  }

  delta(delta: ChatMessage): ChoiceUpdate {
    const content = readMessage(delta);
    // The delta follows the finish.
    if (this.#isFinished) return this.#rest(content, 'pieceAfterEnd');
    const reasoning = content.isDetailed
      ? this.#reasoning.pieceOrAll(content.reasoning)
      : this.#reasoning.pieceOnce(content.reasoning);
    // A vendor that repeats all reasoning also repeats all text.
    const text = this.#reasoning.isCumulative ? this.#text.pieceOrAll(content.text) : this.#text.piece(content.text);
    return {
      ...this.#split(reasoning, text),
      refusal: this.#refusal.piece(content.refusal),
      citations: content.citations,
      images: this.#taken(content.images),
      calls: this.#calls.pieces(content.calls),
    };
  }

  #taken(images: readonly MediaSource[]): readonly MediaSource[] {
    this.#images += images.length;
    return images;
  }

  /** A whole message repeats the images of the deltas, in their order. */
  #missing(images: readonly MediaSource[]): readonly MediaSource[] {
    return this.#taken(images.slice(this.#images));
  }

  /** Takes a whole message: the reply itself, or a repetition of the deltas. */
  message(message: ChatMessage): ChoiceUpdate {
    return this.#rest(readMessage(message), 'whole');
  }

  /** Ends the answer and returns the pieces that were held back. */
  finish(): SplitText & Pick<ChoiceUpdate, 'calls'> {
    this.#isFinished = true;
    return { ...this.#split('', undefined), calls: this.#calls.rest() };
  }

  /** The new part of content that may repeat all earlier content. */
  #rest(content: MessageContent, take: 'whole' | 'pieceAfterEnd'): ChoiceUpdate {
    const reasoning = this.#reasoning[take](content.reasoning);
    return {
      ...this.#split(reasoning, this.#text[take](content.text)),
      refusal: this.#refusal[take](content.refusal),
      citations: content.citations,
      images: this.#missing(content.images),
      calls: this.#calls.whole(content.calls),
    };
  }

  /** @param text undefined at the end */
  #split(reasoning: string, text: string | undefined): SplitText {
    const split = (text === undefined ? this.#splitter?.rest() : this.#splitter?.take(text)) ?? {
      reasoning: '',
      text: text ?? '',
    };
    // MiniMax may send the same reasoning both inside and outside the text.
    return { reasoning: this.#reasoning.isEmpty ? split.reasoning : reasoning, text: split.text };
  }
}

interface SplitText {
  readonly reasoning: string;
  readonly text: string;
}

const opening = '<think>';
const closing = '</think>';

/**
 * Separates reasoning at the beginning of a text, `<think>…</think>`, from the answer. Later tags are text, because a
 * model may write about them.
 */
class ThinkSplitter {
  #place: 'before' | 'within' | 'after' | 'answer' = 'before';
  /** Text that may be the beginning of a tag. */
  #held = '';
  #hasThought = false;

  /** True when the remaining text contains no reasoning. */
  get isDone(): boolean {
    return this.#place === 'answer';
  }

  take(text: string): SplitText {
    this.#held += text;
    if (this.#place === 'before') this.#begin();
    const reasoning = this.#think();
    return { reasoning, text: this.#answer() };
  }

  /** The remainder at the end. Reasoning without a closing tag stays reasoning. */
  rest(): SplitText {
    const text = this.#held;
    this.#held = '';
    if (this.#place === 'within') return { reasoning: text.trimEnd(), text: '' };
    return { reasoning: '', text: this.#place === 'before' ? text : '' };
  }

  #begin(): void {
    const start = this.#held.trimStart();
    if (start.startsWith(opening)) {
      this.#place = 'within';
      this.#held = start.slice(opening.length);
    } else if (!opening.startsWith(start)) this.#place = 'answer';
  }

  #think(): string {
    if (this.#place !== 'within') return '';
    if (!this.#hasThought) this.#held = this.#held.trimStart();
    const end = this.#held.indexOf(closing);
    const thought = end === -1 ? withoutTail(this.#held) : this.#held.slice(0, end).trimEnd();
    this.#held = this.#held.slice(end === -1 ? thought.length : end + closing.length);
    if (end !== -1) this.#place = 'after';
    this.#hasThought ||= thought !== '';
    return thought;
  }

  /** The blank line between reasoning and answer belongs to neither. */
  #answer(): string {
    if (this.#place !== 'after' && this.#place !== 'answer') return '';
    const answer = this.#place === 'after' ? this.#held.trimStart() : this.#held;
    if (answer !== '') this.#place = 'answer';
    this.#held = '';
    return answer;
  }
}

/** The part that is certainly reasoning: without a possible start of the closing tag and the white space before it. */
function withoutTail(text: string): string {
  for (let length = Math.min(text.length, closing.length - 1); length > 0; length--) {
    if (text.endsWith(closing.slice(0, length))) return text.slice(0, -length).trimEnd();
  }
  return text.trimEnd();
}
