import type { AnswerKind, ReplyReader, WholeReply } from '#core/gateway/model-call/adapter.ts';
import type { EventFramer, StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { findExcess } from '#core/platform/json-measure.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { runToEnd } from '#core/platform/timing/turn.ts';
import type { ReplyDecoder, ReplyEncoder } from '../../canonical/codec.ts';
import { ContinuationSeam } from '../../canonical/continuation-seam.ts';
import type { GuardedRoute } from '../../canonical/guard-options.ts';
import type { GrammarGuard } from '../../canonical/guard.ts';
import type { CompleteReply, Fragment, ReplyEvent } from '../../canonical/reply.ts';
import type { TranslatedContent } from '../../content/translated-content.ts';
import { parseBodyInSteps, isTruncatedObject } from '../../wire/members.ts';
import { createMalformedReplyError } from '../malformed.ts';

const emptyBuffer = Buffer.alloc(0);
const pieceSize = 65_536; // bytes of a stream that are converted in one step

export interface UpstreamReply {
  readonly decoder: ReplyDecoder;
  readonly framer: EventFramer;
}

/**
 * Reads a reply in the upstream's format and writes it in the client's. Streaming and non-streaming replies take the same path: a
 * non-streaming reply yields all of its fragments at once.
 */
export class TranslatingReader implements ReplyReader {
  readonly #decoder: ReplyDecoder;
  readonly #guard: GrammarGuard;
  readonly #encoder: ReplyEncoder;
  readonly #framer: EventFramer;
  readonly #seam: ContinuationSeam | undefined;
  readonly #content: TranslatedContent | undefined;
  #isStream = true; // false once the client is known to get one object
  #output = '';
  #framingFailure: GatewayError | undefined;
  progress = 0;

  /** @param seam given if guard and encoder already have a part of the answer, from another route */
  constructor(
    { decoder, framer }: UpstreamReply,
    guard: GrammarGuard,
    encoder: ReplyEncoder,
    content?: TranslatedContent,
    seam?: ContinuationSeam,
  ) {
    this.#content = content;
    this.#decoder = decoder;
    this.#framer = framer;
    this.#guard = guard;
    this.#encoder = encoder;
    this.#seam = seam;
  }

  get hasContent(): boolean {
    return this.#seam === undefined ? this.#guard.hasContent : this.#seam.hasContent;
  }

  /** The text that the client has received, if another route can continue the answer; see `GrammarGuard.plainText`. */
  get plainText(): string | undefined {
    return this.#guard.plainText;
  }

  /** For the client it is the same answer, with the same id and numbering. */
  continueWith(reply: UpstreamReply, route: GuardedRoute, sentText: string): TranslatingReader {
    this.#guard.resume(route);
    return new TranslatingReader(reply, this.#guard, this.#encoder, this.#content, new ContinuationSeam(sentText));
  }

  get isComplete(): boolean {
    return this.#guard.reply !== undefined;
  }

  get isFinished(): boolean {
    return this.#guard.isFinished;
  }

  get failure(): GatewayError | undefined {
    return this.#framingFailure ?? this.#guard.failure;
  }

  get usage(): ReplyReader['usage'] {
    return this.#guard.usage;
  }

  get held(): number {
    return this.#guard.heldCharacters;
  }

  get isPolicyRefusal(): boolean {
    return this.#guard.isPolicyRefusal;
  }

  get digests(): ReplyReader['digests'] {
    return this.#content?.computeDigests(this.isComplete);
  }

  get answeredModel(): string | undefined {
    return this.#content?.model;
  }

  get notes(): readonly string[] {
    return this.#guard.notes.entries;
  }

  finished(): JsonObject | undefined {
    return this.#encoder.finished;
  }

  renderFailure(error: GatewayError): string {
    return this.#encoder.encodeFailure(error, this.usage);
  }

  whole(body: Buffer): WholeReply {
    return runToEnd(this.#readWhole(body));
  }

  convert(body: Buffer, isEventStream: boolean): WholeReply {
    return runToEnd(this.#convertInSteps(body, isEventStream));
  }

  steps(body: Buffer, _contentType: string, kind: AnswerKind): Generator<undefined, WholeReply> {
    const { isEventStream, isStreamRequested } = kind;
    return isEventStream === isStreamRequested ? this.#readWhole(body) : this.#convertInSteps(body, isEventStream);
  }

  *#readWhole(body: Buffer): Generator<undefined, WholeReply> {
    const value = yield* parseInSteps(body);
    if (value === undefined) throw createMalformedReplyError(body.length === 0 ? 'body_empty' : 'body_malformed');
    this.#isStream = false;
    this.#pushFragments(this.#decoder.readWhole(value));
    yield;
    return this.#createJsonReply();
  }

  *#convertInSteps(body: Buffer, isEventStream: boolean): Generator<undefined, WholeReply> {
    this.#isStream = !isEventStream;
    if (isEventStream) {
      for (let start = 0; start < body.length && this.failure === undefined; start += pieceSize) {
        this.push(body.subarray(start, start + pieceSize));
        yield;
      }
      this.end();
      return this.#createJsonReply();
    }
    const value = yield* parseInSteps(body);
    if (value !== undefined) this.#encodeEvents(this.#pushFragments(this.#decoder.readWhole(value)));
    yield;
    return this.#createReply(() => this.#takeOutput(), 'text/event-stream');
  }

  push(chunk: Buffer): Buffer {
    for (const event of this.#framer.push(chunk)) this.#readEvent(event);
    if (this.#framer.isOverLimit) this.#framingFailure = createMalformedReplyError('event_too_large');
    return this.#takeOutput();
  }

  end(): Buffer {
    // The blank line after the last event is often missing, so the event is only dropped if it was cut off.
    for (const event of this.#framer.end()) if (!isTruncatedObject(event.data ?? '')) this.#readEvent(event);
    this.#encodeEvents(this.#recordSent(this.#guard.close()));
    return this.#takeOutput();
  }

  #createJsonReply(): WholeReply {
    const render = (reply: CompleteReply) => Buffer.from(JSON.stringify(this.#encoder.encodeWhole(reply)));
    return this.#createReply(render, 'application/json');
  }

  #createReply(render: (reply: CompleteReply) => Buffer, contentType: string): WholeReply {
    const { reply } = this.#guard;
    if (this.failure !== undefined) throw this.failure;
    if (reply === undefined) throw createMalformedReplyError('body_unanswered');
    return { contentType: `${contentType}; charset=utf-8`, body: render(reply), usage: this.usage };
  }

  #readEvent({ name, data }: StreamEvent): void {
    if (data === undefined || this.#guard.isOver) return;
    if (isTruncatedObject(data)) this.#framingFailure = createMalformedReplyError('event_truncated');
    if (this.#framingFailure !== undefined) return;
    this.#encodeEvents(this.#pushFragments(this.#decoder.readEvent(name, data)));
  }

  #pushFragments(fragments: readonly Fragment[]): ReplyEvent[] {
    if (fragments.length > 0) this.progress++;
    return this.#recordSent(this.#guard.push(this.#seam?.filter(fragments) ?? fragments));
  }

  #recordSent(events: ReplyEvent[]): ReplyEvent[] {
    this.#content?.addSent(events, this.#isStream);
    return events;
  }

  #encodeEvents(events: readonly ReplyEvent[]): void {
    for (const event of events) this.#output += this.#encoder.encodeEvent(event);
  }

  #takeOutput(): Buffer {
    if (this.#output === '') return emptyBuffer;
    const bytes = Buffer.from(this.#output);
    this.#output = '';
    return bytes;
  }
}

function* parseInSteps(body: Buffer): Generator<undefined, JsonObject | undefined> {
  const text = body.toString();
  yield;
  const excess = findExcess(text, bounds.replyValues);
  if (excess !== undefined) throw createMalformedReplyError('excess', excess);
  yield;
  const value = yield* parseBodyInSteps(text);
  yield;
  return value;
}
