import type { MediaSource } from '../../../canonical/conversation.ts';
import type { ChatMessage } from '../../../wire/chat.ts';
import { type CallPiece, CallTracker } from './call-tracker.ts';
import { type MessageContent, readMessage } from './read-reply.ts';
import { TextTracker } from './text-tracker.ts';

/** The content that a delta or a message adds to a choice, in this order. */
export interface ChoiceUpdate extends Omit<MessageContent, 'isFromDetails' | 'calls'> {
  readonly calls: readonly CallPiece[];
}

export interface ChoiceTrackerOptions {
  /** True if the text contains the reasoning, between <think> and </think>. */
  readonly inlineThinking?: boolean;
}

/**
 * Reads one choice of a reply and tolerates the deviations of all vendors: drops repeated content and assigns every piece of a
 * call to its call. Decoders turn the updates into fragments. The repair of same-format routes writes them in place.
 */
export class ChoiceTracker {
  readonly #calls = new CallTracker();
  readonly #text = new TextTracker();
  readonly #reasoning = new TextTracker();
  readonly #refusal = new TextTracker();
  readonly #splitter: ThinkSplitter | undefined;
  #imageCount = 0;
  #isFinished = false;

  constructor({ inlineThinking = false }: ChoiceTrackerOptions = {}) {
    this.#splitter = inlineThinking ? new ThinkSplitter() : undefined;
  }

  get calls(): CallTracker {
    return this.#calls;
  }

  get isEmpty(): boolean {
    const hasText = !this.#text.isEmpty || !this.#reasoning.isEmpty || !this.#refusal.isEmpty;
    return !hasText && this.#imageCount === 0 && this.#calls.calls.length === 0;
  }

  /** True while text and reasoning pass unchanged, unless a piece is a repetition. */
  get isPlain(): boolean {
    return !this.#isFinished && !this.#reasoning.isCumulative && this.#splitter?.isDone !== false;
  }

  /** Takes a delta that contains only text or reasoning, unless it is a repetition. Call it only while `isPlain`. Returns true if taken. */
  tryPlainDelta(text: string, reasoning: string): boolean {
    if (this.#reasoning.isRepetition(reasoning)) return false;
    this.#text.appendDelta(text);
    this.#reasoning.appendDelta(reasoning);
    return true;
  }

  applyDelta(delta: ChatMessage): ChoiceUpdate {
    const content = readMessage(delta);
    // Vendors may repeat content after the finish reason.
    if (this.#isFinished) return this.#applyRepeated(content, (tracker, text) => tracker.appendAfterFinish(text));
    const reasoning = content.isFromDetails
      ? this.#reasoning.appendDeltaOrSnapshot(content.reasoning)
      : this.#reasoning.appendUnlessRepeated(content.reasoning);
    // A vendor that repeats all reasoning also repeats all text.
    const isCumulative = this.#reasoning.isCumulative;
    const text = isCumulative ? this.#text.appendDeltaOrSnapshot(content.text) : this.#text.appendDelta(content.text);
    return {
      ...this.#split(reasoning, text),
      refusal: this.#refusal.appendDelta(content.refusal),
      citations: content.citations,
      images: this.#countImages(content.images),
      calls: this.#calls.takePieces(content.calls),
    };
  }

  /** Applies a whole message: the reply itself, or a repetition of the deltas. */
  applyMessage(message: ChatMessage): ChoiceUpdate {
    return this.#applyRepeated(readMessage(message), (tracker, text) => tracker.appendSnapshot(text));
  }

  /** Ends the choice and returns the content that was held back. */
  finish(): SplitText & Pick<ChoiceUpdate, 'calls'> {
    this.#isFinished = true;
    const held = this.#splitter?.finish() ?? { reasoning: '', text: '' };
    return { ...this.#preferMember('', held), calls: this.#calls.releaseHeld() };
  }

  /** @param takeNew takes a text that may repeat earlier text, and returns the new part */
  #applyRepeated(content: MessageContent, takeNew: (tracker: TextTracker, text: string) => string): ChoiceUpdate {
    const reasoning = takeNew(this.#reasoning, content.reasoning);
    return {
      ...this.#split(reasoning, takeNew(this.#text, content.text)),
      refusal: takeNew(this.#refusal, content.refusal),
      citations: content.citations,
      // A message repeats the images of the deltas, in the same order.
      images: this.#countImages(content.images.slice(this.#imageCount)),
      calls: this.#calls.takeWhole(content.calls),
    };
  }

  #countImages(images: readonly MediaSource[]): readonly MediaSource[] {
    this.#imageCount += images.length;
    return images;
  }

  #split(reasoning: string, text: string): SplitText {
    return this.#preferMember(reasoning, this.#splitter?.take(text) ?? { reasoning: '', text });
  }

  /** Prefers the reasoning of a separate member: MiniMax may send the same reasoning in the text as well. */
  #preferMember(reasoning: string, split: SplitText): SplitText {
    return { reasoning: this.#reasoning.isEmpty ? split.reasoning : reasoning, text: split.text };
  }
}

interface SplitText {
  readonly reasoning: string;
  readonly text: string;
}

const openingTag = '<think>';
const closingTag = '</think>';

/**
 * Separates reasoning at the start of a text, `<think>…</think>`, from the answer. Later tags are text, because a model may write
 * about them.
 */
class ThinkSplitter {
  #state: 'start' | 'reasoning' | 'gap' | 'answer' = 'start';
  /** Text that may be the start of a tag. */
  #held = '';
  #hasReasoning = false;

  /** True once the remaining text contains no reasoning. */
  get isDone(): boolean {
    return this.#state === 'answer';
  }

  take(text: string): SplitText {
    this.#held += text;
    if (this.#state === 'start') this.#findOpeningTag();
    const reasoning = this.#takeReasoning();
    return { reasoning, text: this.#takeAnswer() };
  }

  /** Returns the held-back text. Reasoning without a closing tag stays reasoning. */
  finish(): SplitText {
    const held = this.#held;
    this.#held = '';
    if (this.#state === 'reasoning') return { reasoning: held.trimEnd(), text: '' };
    return { reasoning: '', text: this.#state === 'start' ? held : '' };
  }

  #findOpeningTag(): void {
    const start = this.#held.trimStart();
    if (start.startsWith(openingTag)) {
      this.#state = 'reasoning';
      this.#held = start.slice(openingTag.length);
    } else if (!openingTag.startsWith(start)) this.#state = 'answer';
  }

  #takeReasoning(): string {
    if (this.#state !== 'reasoning') return '';
    if (!this.#hasReasoning) this.#held = this.#held.trimStart();
    const end = this.#held.indexOf(closingTag);
    const reasoning = end === -1 ? certainReasoning(this.#held) : this.#held.slice(0, end).trimEnd();
    this.#held = this.#held.slice(end === -1 ? reasoning.length : end + closingTag.length);
    if (end !== -1) this.#state = 'gap';
    this.#hasReasoning ||= reasoning !== '';
    return reasoning;
  }

  /** Skips the blank line between reasoning and answer, which belongs to neither. */
  #takeAnswer(): string {
    if (this.#state !== 'gap' && this.#state !== 'answer') return '';
    const answer = this.#state === 'gap' ? this.#held.trimStart() : this.#held;
    if (answer !== '') this.#state = 'answer';
    this.#held = '';
    return answer;
  }
}

/** Omits a possible start of the closing tag at the end of the text, and the white space before it. */
function certainReasoning(text: string): string {
  for (let length = Math.min(text.length, closingTag.length - 1); length > 0; length--) {
    if (text.endsWith(closingTag.slice(0, length))) return text.slice(0, -length).trimEnd();
  }
  return text.trimEnd();
}
