import type { Profile } from '#core/config/catalog/profile.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyDecoder, UpstreamCodec } from '../../canonical/codec.ts';
import { type FinishReason, type Fragment, isContent } from '../../canonical/reply.ts';
import { type ContentDigest, addDelta } from '../../content/content-digest.ts';
import type { ReplyObserver } from './pass-through.ts';

/** Listeners to a pass-through reply, in addition to the client. */
export interface ReplyListeners {
  readonly profile?: Profile | undefined;
  /** Receives the vendor's id for the reply, if a later request can continue it. */
  readonly onReplyId?: ((replyId: string) => void) | undefined;
  readonly content?: ContentDigest | undefined;
  /** `isFinished` is true if no content follows. */
  readonly onFragments?: ((fragments: readonly Fragment[], isFinished: boolean) => void) | undefined;
}

interface StreamEnd {
  readonly endMark?: string;
  /** True if a stream ends only when its body does: finish reasons may repeat, and there may be fewer choices than requested. */
  readonly endsWithBody?: boolean;
  readonly requestedChoices?: number;
  readonly ignoresDone?: boolean;
}

const noFragments: readonly Fragment[] = [];
/** Fragments that may follow the end of a choice without continuing it. */
const trailingTypes: ReadonlySet<Fragment['type']> = new Set(['finish', 'citation', 'reasoning_state']);

/** Follows the progress of a reply that passes through as bytes, using its decoder's fragments. */
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
  readonly #listeners: ReplyListeners;
  readonly #end: StreamEnd;
  #hasDecodedChoiceEnded = false;
  /** Whether each of the other choices has ended, by index; undefined for most replies, which have only one choice. */
  #otherChoices: Map<unknown, boolean> | undefined;
  #hasStreamEnded = false;
  #canSkim = false;
  #hasContentAfterFinish = false;

  constructor(
    { createDecoder }: Pick<UpstreamCodec, 'createDecoder'>,
    listeners: ReplyListeners = {},
    end: StreamEnd = {},
  ) {
    this.#decoder = createDecoder(listeners.profile);
    this.#listeners = listeners;
    this.#end = end;
    if (end.endMark !== undefined) this.endMark = end.endMark;
  }

  observeEvent(event: StreamEvent): void {
    const skimmed = this.#canSkim ? this.#skim(event, this.#listeners.content) : undefined;
    if (skimmed?.length === 0) return;
    if (this.#end.ignoresDone === true && event.data?.trim() === '[DONE]') return;
    const sharedEvent = this.#listeners.onFragments === undefined ? event : undefined;
    this.#observeFragments(skimmed ?? this.#decoder.readEvent(event.name, event.data ?? '', sharedEvent));
  }

  observeReply(body: JsonObject): void {
    this.#observeFragments(this.#decoder.readWhole(body));
    this.isComplete = this.isFinished = this.isOver = true;
  }

  #skim(event: StreamEvent, content: ContentDigest | undefined): readonly Fragment[] | undefined {
    if (!event.isPlain) return this.#decoder.skimEvent?.(event, content);
    if (content !== undefined && event.contentDelta !== undefined) addDelta(content, event.contentDelta);
    return noFragments;
  }

  #observeFragments(fragments: readonly Fragment[]): void {
    const { onFragments, content } = this.#listeners;
    for (const fragment of fragments) {
      this.#observeFragment(fragment);
      content?.addFragment(fragment);
    }
    const { endsWithBody, requestedChoices = 1 } = this.#end;
    const endedCount = this.#endedCount;
    // Some vendors omit the last event. The finish reasons of all choices also count as the end.
    const haveAllEnded =
      endedCount > 0 && endedCount >= (endsWithBody === true ? this.#startedCount : requestedChoices);
    this.isComplete = this.#hasStreamEnded || haveAllEnded;
    this.isFinished =
      this.#hasStreamEnded || (haveAllEnded && endedCount >= requestedChoices && !this.#hasContentAfterFinish);
    this.#canSkim = onFragments === undefined && this.hasContent && !this.isComplete;
    onFragments?.(fragments, this.isFinished);
  }

  #observeFragment(fragment: Fragment): void {
    if (isContent(fragment)) {
      this.hasContent = true;
      this.#hasContentAfterFinish ||=
        this.isComplete &&
        !(this.#end.endsWithBody === true ? trailingTypes.has(fragment.type) : fragment.type === 'finish');
    }
    switch (fragment.type) {
      case 'usage':
        this.usage = fragment.usage;
        return;
      case 'model':
        this.answeredModel ??= fragment.model;
        return;
      case 'id':
        this.#listeners.onReplyId?.(fragment.id);
        return;
      case 'finish':
        this.#hasDecodedChoiceEnded = true;
        this.#recordFinish(fragment.reason);
        return;
      case 'other':
        this.#observeOtherChoice(fragment);
        return;
      case 'end':
        this.#endStream();
        return;
      case 'error':
        this.failure ??= fragment.error;
        return;
      default:
    }
  }

  #observeOtherChoice({ answer, error, finish }: Extract<Fragment, { type: 'other' }>): void {
    this.#otherChoices ??= new Map();
    this.failure ??= error;
    this.#otherChoices.set(answer, finish !== undefined || this.#otherChoices.get(answer) === true);
    if (finish !== undefined) this.#recordFinish(finish);
  }

  #recordFinish(reason: FinishReason): void {
    this.hasContent = true;
    this.isPolicyRefusal ||= reason === 'content_filter';
  }

  get #startedCount(): number {
    return 1 + (this.#otherChoices?.size ?? 0);
  }

  get #endedCount(): number {
    const decodedCount = this.#hasDecodedChoiceEnded ? 1 : 0;
    if (this.#otherChoices === undefined) return decodedCount;
    return decodedCount + [...this.#otherChoices.values()].filter(Boolean).length;
  }

  #endStream(): void {
    this.#hasStreamEnded = true;
    this.isOver = this.#end.endsWithBody !== true;
  }
}
