import type { Profile } from '#core/config/catalog/profile.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { ReplyDecoder, UpstreamCodec } from '../../canonical/codec.ts';
import { type ContentDigest, takeSaid } from '../../content/content-digest.ts';
import { type FinishReason, type Fragment, isContent } from '../../canonical/reply.ts';
import type { ReplyObserver } from './pass-through.ts';

/** Additional recipients of a pass-through reply. */
export interface Listening {
  /** Profile of the route. */
  readonly profile?: Profile | undefined;
  /** Receives the vendor's id of the answer, if the answer can be continued. */
  readonly onAnswer?: ((answerId: string) => void) | undefined;
  /** Receives the content of the answer, for its digest. */
  readonly content?: ContentDigest | undefined;
  /**
   * Receives all fragments, including text.
   *
   * @param isFinished true if nothing of the answer follows
   */
  readonly onFragments?: ((fragments: readonly Fragment[], isFinished: boolean) => void) | undefined;
}

interface StreamEnd {
  /** The last event, to be added to a complete stream that lacks it; missing if the format has none. */
  readonly mark?: string;
  /** True if only the end of the body ends a stream: finish reasons may repeat, and there may be fewer answers than requested. */
  readonly isOfBody?: boolean;
  readonly answers?: number;
  /** True if [DONE], which ends Chat streams, does not end a stream of this format. */
  readonly ignoresDone?: boolean;
}

const nothing: readonly Fragment[] = [];
/** Fragments that may follow the end of an answer without continuing it: sources and signatures. */
const trailing: ReadonlySet<Fragment['type']> = new Set(['finish', 'citation', 'reasoning_state']);

/** Follows the progress of a reply that passes through as bytes, by the fragments of its decoder. */
export class FragmentObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  isFinished = false;
  isOver = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  isPolicyRefusal = false;
  answeredModel: string | undefined;
  readonly endMark?: string;
  readonly #decoder: ReplyDecoder;
  readonly #listening: Listening;
  readonly #isOfBody: boolean;
  readonly #ignoresDone: boolean;
  readonly #requested: number;
  /** True once the decoded answer has ended. */
  #hasEnded = false;
  /** Whether each of the other answers has ended, by key; most replies have no other answers. */
  #others: Map<unknown, boolean> | undefined;
  #isSettled = false;
  /** True while the next event may be just another piece of text. */
  #canSkim = false;
  /** True if content followed the finish reasons. */
  #hasContinued = false;

  constructor(
    { createDecoder }: Pick<UpstreamCodec, 'createDecoder'>,
    listening: Listening = {},
    { mark, isOfBody = false, answers = 1, ignoresDone = false }: StreamEnd = {},
  ) {
    this.#decoder = createDecoder(listening.profile);
    this.#listening = listening;
    this.#isOfBody = isOfBody;
    this.#ignoresDone = ignoresDone;
    this.#requested = answers;
    if (mark !== undefined) this.endMark = mark;
  }

  event(event: StreamEvent): void {
    const skimmed = this.#canSkim ? this.#skim(event, this.#listening.content) : undefined;
    if (skimmed?.length === 0) return;
    if (this.#ignoresDone && event.data?.trim() === '[DONE]') return;
    const shared = this.#listening.onFragments === undefined ? event : undefined;
    this.#takeAll(skimmed ?? this.#decoder.event(event.name, event.data ?? '', shared));
  }

  whole(body: JsonObject): void {
    this.#takeAll(this.#decoder.whole(body));
    this.isComplete = this.isFinished = this.isOver = true;
  }

  #skim(event: StreamEvent, content: ContentDigest | undefined): readonly Fragment[] | undefined {
    if (!event.isPlain) return this.#decoder.skim?.(event, content);
    if (content !== undefined && event.said !== undefined) takeSaid(content, event.said);
    return nothing;
  }

  #takeAll(fragments: readonly Fragment[]): void {
    const { onFragments, content } = this.#listening;
    for (const fragment of fragments) {
      this.#take(fragment);
      content?.take(fragment);
    }
    const ended = this.#ended;
    // Some vendors omit the last event; finish reasons for all answers are equivalent.
    const areEnded = ended > 0 && ended >= (this.#isOfBody ? this.#begun : this.#requested);
    this.isComplete = this.#isSettled || areEnded;
    this.isFinished = this.#isSettled || (areEnded && ended >= this.#requested && !this.#hasContinued);
    this.#canSkim = onFragments === undefined && this.hasContent && !this.isComplete;
    onFragments?.(fragments, this.isFinished);
  }

  #take(fragment: Fragment): void {
    if (isContent(fragment)) {
      this.hasContent = true;
      this.#hasContinued ||=
        this.isComplete && !(this.#isOfBody ? trailing.has(fragment.type) : fragment.type === 'finish');
    }
    switch (fragment.type) {
      case 'usage':
        this.usage = fragment.usage;
        return;
      case 'model':
        this.answeredModel ??= fragment.model;
        return;
      case 'id':
        this.#listening.onAnswer?.(fragment.id);
        return;
      case 'finish':
        this.#hasEnded = true;
        this.#noteFinish(fragment.reason);
        return;
      case 'other':
        this.#takeOther(fragment);
        return;
      case 'end':
        this.#settle();
        return;
      case 'error':
        this.failure ??= fragment.error;
        return;
      default:
    }
  }

  #takeOther({ answer, error, finish }: Extract<Fragment, { type: 'other' }>): void {
    this.#others ??= new Map();
    this.failure ??= error;
    this.#others.set(answer, finish !== undefined || this.#others.get(answer) === true);
    if (finish !== undefined) this.#noteFinish(finish);
  }

  #noteFinish(reason: FinishReason): void {
    this.hasContent = true;
    this.isPolicyRefusal ||= reason === 'content_filter';
  }

  /** Number of answers that have begun, including the decoded one. */
  get #begun(): number {
    return 1 + (this.#others?.size ?? 0);
  }

  get #ended(): number {
    const own = this.#hasEnded ? 1 : 0;
    return this.#others === undefined ? own : own + [...this.#others.values()].filter(Boolean).length;
  }

  #settle(): void {
    this.#isSettled = true;
    this.isOver = !this.#isOfBody;
  }
}
