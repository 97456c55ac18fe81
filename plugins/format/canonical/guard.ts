import type { Usage } from '#core/gateway/facts.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { BlockQueue, CallBlock, OpenImage, type OpenBlock, ReasoningBlock, TextBlock } from './block-queue.ts';
import { UniqueIds } from './call-ids.ts';
import type { MediaSource } from './conversation.ts';
import { charactersPerImage } from './estimate.ts';
import { describeImage, countImageCharacters } from './generated-images.ts';
import type { GuardedRoute, GuardOptions } from './guard-options.ts';
import { Notes } from './notes.ts';
import { RepeatedCalls } from './repeated-calls.ts';
import {
  type CompleteReply,
  type FinishReason,
  type Fragment,
  type Logprob,
  charactersPerBlock,
  type ReplyEvent,
  resolveFinish,
  createTruncatedCallError,
} from './reply.ts';
import { normalizeInput } from './stored-reasoning.ts';
import { UsageTally } from './usage-tally.ts';

type CallFragment = Extract<Fragment, { type: 'call' }>;

/**
 * Turns any sequence of fragments into one start, a sequence of complete blocks, and one finish. See `ReplyEvent` for
 * the invariants.
 *
 * | state | becomes true |
 * |---|---|
 * | `hasContent` | with the first event, even if it is hidden from the client |
 * | `isFinished` | with the finish reason, until more content follows it |
 * | `isOver` | with `reply`, after which no event follows, or with `failure` |
 */
export class GrammarGuard {
  failure: GatewayError | undefined;
  /** Parts of the answer that the client does not get. */
  readonly notes = new Notes();
  readonly #options: GuardOptions;
  readonly #usage: UsageTally;
  #route: GuardedRoute;
  readonly #queue: BlockQueue;
  readonly #calls = new Map<string | number, CallBlock>();
  readonly #repeatedCalls = new RepeatedCalls(
    (key, input) => normalizeInput(this.#calls.get(key)?.text ?? '') === normalizeInput(input),
  );
  readonly #callIds: UniqueIds;
  #events: ReplyEvent[] = [];
  #callCount = 0;
  #isStarted = false;
  #hasDroppedContent = false;
  #hasText = false;
  #startsParagraph = false;
  #finish: FinishReason | undefined;
  #stopSequence: string | undefined;
  #tier: string | undefined;
  readonly #pendingLogprobs: Logprob[] = [];
  #heldCharacters = 0;
  #charactersAtFinish = 0;
  #reply: CompleteReply | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#route = options;
    this.#callIds = new UniqueIds(options.rules?.callIds);
    this.#usage = new UsageTally(options.estimateInputTokens);
    this.#queue = new BlockQueue({
      emit: (event) => this.#emit(event),
      tag: (kind, data) => this.#route.tagState(kind, data),
      hidesReasoning: options.hidesReasoning === true,
      // Even a hidden event starts the client's answer.
      onHidden: () => this.#start(),
    });
  }

  /** Returns no events once the answer has ended or failed. */
  push(fragments: readonly Fragment[]): ReplyEvent[] {
    for (const fragment of fragments) {
      if (this.isOver) break;
      if (this.#repeatedCalls.canPass(fragment)) this.#apply(fragment);
      else for (const part of this.#repeatedCalls.filter(fragment)) if (!this.isOver) this.#apply(part);
    }
    return this.#takeEvents();
  }

  /** Completes an answer whose upstream sent a finish reason but ended the stream without its last event. */
  close(): ReplyEvent[] {
    if (!this.isOver && this.#finish !== undefined) this.#complete();
    return this.#takeEvents();
  }

  get isOver(): boolean {
    return this.#reply !== undefined || this.failure !== undefined;
  }

  get isFinished(): boolean {
    return (
      this.#reply !== undefined || (this.#finish !== undefined && this.#heldCharacters === this.#charactersAtFinish)
    );
  }

  /** True if the vendor's policy withheld the answer or cut it off. */
  get isPolicyRefusal(): boolean {
    return this.#finish === 'content_filter';
  }

  get reply(): CompleteReply | undefined {
    return this.#reply;
  }

  get heldCharacters(): number {
    return this.#heldCharacters;
  }

  get hasContent(): boolean {
    return this.#isStarted;
  }

  /** Usage so far; undefined until the upstream has reported counts or any part of the answer. */
  get usage(): Usage | undefined {
    if (this.#reply !== undefined) return { ...this.#usage.accountedUsage, isEstimated: this.#usage.isEstimated };
    if (this.#isStarted) return { ...this.#usage.interruptedUsage, isEstimated: true };
    return Object.keys(this.#usage.reported).length === 0 ? undefined : this.#usage.reported;
  }

  /** Text so far of an unfinished answer; undefined if the answer has a call, a refusal or unfinished reasoning. */
  get plainText(): string | undefined {
    if (this.#reply !== undefined || this.#finish !== undefined || this.#calls.size > 0) return undefined;
    return this.#queue.plainText;
  }

  /**
   * Lets another route continue the answer from the end of `plainText`, where the previous route broke off. Forgets how that route ended,
   * but keeps the text, its log probabilities and the token counts.
   */
  resume(route: GuardedRoute): void {
    this.#route = route;
    this.failure = undefined;
    this.#finish = undefined;
    this.#stopSequence = undefined;
    this.#usage.startNextRoute();
  }

  #apply(fragment: Fragment): void {
    this.#options.receiver?.addReceived(fragment);
    switch (fragment.type) {
      case 'text':
        return this.#appendTextWithLogprobs(fragment);
      case 'refusal':
      case 'reasoning':
        return this.#appendText(fragment.type, fragment.text);
      case 'reasoning_state':
        return this.#addReasoningState(fragment);
      case 'image':
        return this.#addImage(fragment.source);
      case 'citation':
        return this.#addCitation(fragment);
      case 'break':
        this.#closeLastBlock();
        this.#startsParagraph ||= fragment.isParagraph === true;
        return;
      case 'call':
        return this.#startCall(fragment);
      case 'input':
        return this.#appendInput(fragment.key, fragment.text);
      case 'call_end':
        return this.#endCall(fragment.key, fragment.input);
      case 'held':
        this.#reserve(fragment.characters);
        return;
      case 'dropped':
        this.notes.drop(fragment.feature);
        this.#hasDroppedContent ||= fragment.isAnswer === true;
        return;
      case 'usage':
        this.#usage.recordReported(fragment.usage);
        return;
      case 'tier':
        this.#tier = fragment.tier;
        return;
      case 'finish':
        if (this.#finish === undefined) this.#charactersAtFinish = this.#heldCharacters;
        this.#finish ??= fragment.reason;
        this.#stopSequence ??= fragment.stopSequence;
        return;
      case 'end':
        return this.#complete(fragment.isUnfinished);
      case 'error':
        // An error after the finish reason does not fail the answer: clients of the same format already have the finish reason.
        if (this.#finish !== undefined && this.isFinished) this.#complete();
        else this.failure = fragment.error;
        return;
    }
  }

  #appendTextWithLogprobs({ text, logprobs = [] }: Extract<Fragment, { type: 'text' }>): void {
    if (logprobs.length === 0) return this.#appendText('text', text);
    if (this.#options.rules?.hasLogprobs !== true) this.notes.drop('logprobs in the answer');
    else if (this.#reserve(JSON.stringify(logprobs).length)) this.#pendingLogprobs.push(...logprobs);
    else return;
    // The text gets the log probabilities of its own tokens and of earlier tokens that had no text.
    this.#appendText('text', text);
  }

  #appendText(type: 'text' | 'refusal' | 'reasoning', text: string): void {
    if (text === '') return;
    const lastBlock = this.#queue.lastBlock;
    if (lastBlock !== undefined && !lastBlock.isClosed && lastBlock.head.type === type)
      return this.#appendToBlock(lastBlock, text);
    if (!this.#reserve(charactersPerBlock)) return;
    this.#appendToBlock(
      this.#queue.add(type === 'reasoning' ? new ReasoningBlock() : this.#createTextBlock(type)),
      text,
    );
  }

  #createTextBlock(type: 'text' | 'refusal'): TextBlock {
    const isParagraph = this.#startsParagraph && this.#hasText && this.#options.isStructured !== true;
    this.#hasText ||= type === 'text';
    this.#startsParagraph = false;
    return new TextBlock(type, isParagraph);
  }

  #addReasoningState({ kind, data, isTrailing }: Extract<Fragment, { type: 'reasoning_state' }>): void {
    if (isTrailing === true && this.#options.rules?.endsWithAnswer === true) {
      this.notes.drop('signature at the end of the answer');
      return;
    }
    const lastBlock = this.#queue.lastBlock;
    const isOpen = lastBlock instanceof ReasoningBlock && !lastBlock.isClosed && kind !== 'redacted';
    if (!this.#reserve(data.length + (isOpen ? 0 : charactersPerBlock))) return;
    const block = isOpen ? lastBlock : this.#queue.add(new ReasoningBlock());
    block.state = { kind, data };
    if (!isOpen) this.#usage.addWritten(data.length / 4);
    this.#queue.close(block);
  }

  #addImage(source: MediaSource): void {
    const { replyImages: images = 'any' } = this.#options.rules ?? {};
    if (images === 'any' || (images === 'data' && source.type === 'base64')) {
      if (this.#reserve(charactersPerBlock + countImageCharacters(source))) this.#queue.add(new OpenImage(source));
      this.#usage.addWritten(charactersPerImage);
      return;
    }
    this.notes.approximate('images in the answer as text');
    this.#options.receiver?.noteChange('images_as_text');
    this.#closeLastBlock();
    this.#appendText('text', describeImage(source));
    this.#closeLastBlock();
  }

  #addCitation({ citation: reported, isForWholeText }: Extract<Fragment, { type: 'citation' }>): void {
    const lastBlock = this.#queue.lastBlock;
    if (!(lastBlock instanceof TextBlock) || lastBlock.head.type !== 'text' || lastBlock.isClosed) return;
    const citation = isForWholeText === true ? { ...reported, start: 0, end: lastBlock.text.length } : reported;
    if (this.#reserve(JSON.stringify(citation).length)) this.#queue.addCitation(lastBlock, citation);
  }

  #closeLastBlock(): void {
    const lastBlock = this.#queue.lastBlock;
    if (lastBlock === undefined || lastBlock instanceof CallBlock) return;
    this.#queue.close(lastBlock);
  }

  #startCall(fragment: CallFragment): void {
    const { key, id, name } = fragment;
    let call = this.#calls.get(key);
    // Some vendors give every call the index 0, so only the ids tell them apart.
    if (call === undefined || (call.isQueued && isDifferentId(id, call.givenId))) {
      if (!this.#reserve(charactersPerBlock)) return;
      call = new CallBlock();
      this.#calls.set(key, call);
    }
    if (id !== undefined && id !== '') call.givenId ??= id;
    if (name !== undefined && name !== '' && !call.isQueued) this.#nameCall(call, name, fragment);
    if (call.name !== undefined && call.givenId !== undefined) this.#queueCall(call);
  }

  #nameCall(call: CallBlock, wireName: string, { namespace, form }: CallFragment): void {
    const tool = this.#route.toolNames.fromWire(wireName);
    if (tool.name !== wireName && namespace === undefined) this.#options.receiver?.noteChange('tool_names');
    call.isWrapped = tool.form === 'freeform' && form !== 'freeform';
    if (call.isWrapped) this.#options.receiver?.noteChange('arguments');
    call.name = {
      ...tool,
      ...(namespace !== undefined && { name: wireName, namespace }),
      ...(form !== undefined && form !== 'function' && { form }),
    };
  }

  #appendInput(key: string | number, text: string): void {
    const call = this.#calls.get(key);
    if (call === undefined || text === '') return;
    if (call.isClosed) return this.#options.receiver?.noteChange('arguments');
    if (call.name !== undefined) this.#queueCall(call);
    if (call.isQueued) this.#appendToBlock(call, text);
    else if (this.#reserve(text.length)) call.earlyInput.add(text);
  }

  #endCall(key: string | number, wholeInput: string | undefined): void {
    const call = this.#calls.get(key);
    if (call?.name === undefined || call.isClosed) return;
    this.#queueCall(call);
    const { text } = call;
    if (wholeInput !== undefined && wholeInput.length > text.length && wholeInput.startsWith(text)) {
      this.#appendToBlock(call, wholeInput.slice(text.length));
    }
    this.#queue.close(call);
  }

  #queueCall(call: CallBlock): void {
    if (call.isQueued || call.name === undefined) return;
    call.head = {
      type: 'tool_call',
      id: this.#callIds.add(call.givenId ?? `call_${this.#options.exchangeId}_${this.#callCount}`),
      ...call.name,
    };
    this.#callCount++;
    this.#usage.addWritten(call.name.name.length);
    call.isQueued = true;
    this.#queue.add(call);
    if (call.earlyInput.length > 0) this.#writeReserved(call, call.earlyInput.text);
  }

  #appendToBlock(block: OpenBlock, text: string): void {
    if (this.#reserve(text.length)) this.#writeReserved(block, text);
    else this.#usage.addWritten(text.length);
  }

  #writeReserved(block: OpenBlock, text: string): void {
    this.#usage.addWritten(text.length);
    const logprobs =
      block.head.type === 'text' && this.#pendingLogprobs.length > 0 ? this.#pendingLogprobs.splice(0) : undefined;
    this.#queue.appendText(block, text, logprobs);
  }

  /** Returns false and fails the answer if it has become too large. */
  #reserve(characters: number): boolean {
    this.#heldCharacters += characters;
    if (this.#heldCharacters <= bounds.translatedReply) return true;
    this.failure = new GatewayError('upstream_failed', upstreamReason('upstream.reason.over_limit'));
    return false;
  }

  #complete(isUnfinished = false): void {
    if (this.#finish === undefined && [...this.#calls.values()].some(({ hasPartialInput }) => hasPartialInput)) {
      this.failure = createTruncatedCallError();
      return;
    }
    for (const call of this.#calls.values()) this.#queueCall(call);
    this.#queue.closeAll();
    const blocks = this.#queue.completeBlocks;
    if (blocks.length === 0 && this.#isEmptyByMistake) {
      this.failure = new GatewayError('upstream_failed', upstreamReason('upstream.reason.response_empty'));
      return;
    }
    if (isUnfinished && this.#finish === undefined) this.notes.noteMissing('finish reason');
    const isHidden = this.#options.hidesReasoning === true;
    if (this.#finish === 'pause' && this.#options.rules?.hasPauses !== true) {
      this.notes.approximate('paused turn as truncated answer');
    }
    this.#reply = {
      blocks: isHidden ? blocks.filter(({ type }) => type !== 'reasoning') : blocks,
      finish: resolveFinish(
        this.#finish,
        blocks.some(({ type }) => type === 'tool_call'),
      ),
      stopSequence: this.#stopSequence,
      usage: this.#usage.clientUsage,
      tier: this.#tier,
    };
    this.#options.onComplete?.({ ...this.#reply, blocks });
    this.#emit({ type: 'finish', reply: this.#reply });
  }

  /** A model may end without text on purpose, but then the upstream reports at least one output token. */
  get #isEmptyByMistake(): boolean {
    if (this.#hasDroppedContent && this.#finish !== undefined) return false;
    return this.#finish === undefined || (this.#finish === 'stop' && (this.#usage.reported.output ?? 0) === 0);
  }

  #emit(event: ReplyEvent): void {
    this.#start();
    this.#events.push(event);
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { reported, input } = this.#usage;
    const usage = { ...reported, input, isEstimated: reported.input === undefined };
    this.#events.push({ type: 'start', usage, tier: this.#tier });
  }

  #takeEvents(): ReplyEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

function isDifferentId(id: string | undefined, callId: string | undefined): boolean {
  return id !== undefined && id !== '' && callId !== undefined && id !== callId;
}
