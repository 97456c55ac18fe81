import type { AnswerKind, ReplyReader, WholeReply } from '#core/gateway/model-call/adapter.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import { type Caller, renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { findExcess } from '#core/platform/json-measure.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { runToEnd } from '#core/platform/timing/turn.ts';
import type { ContentDigest } from '../../content/content-digest.ts';
import type { ReplyObserver, ReplyAdapter, ReplyRepair } from '../../formats/contract/pass-through.ts';
import { isTruncatedObject } from '../../wire/members.ts';
import { createMalformedReplyError } from '../malformed.ts';
import type { ModelNamer } from './model-namer.ts';

const emptyBuffer = Buffer.alloc(0);
const lineFeed = Buffer.from('\n');
const blankLine = Buffer.from('\n\n');
const endsInBlankLine = /^$|(?:\r\n|\n|\r)(?:\r\n|\n|\r(?!\n))$/;

type ReplyRecipient = Pick<Caller, 'id' | 'dialect'>;

interface PassThroughOptions {
  readonly repair?: ReplyRepair | undefined;
  readonly adapter?: ReplyAdapter | undefined;
  readonly namer?: ModelNamer | undefined;
  /** Converts between streaming and non-streaming replies; undefined if the format only has one of them. */
  readonly converter?: (() => ReplyReader) | undefined;
  readonly content?: ContentDigest | undefined;
  readonly readLargeUsage?: ((text: string) => ReplyReader['usage']) | undefined;
}

/**
 * Passes a reply in the client's format through unchanged while an observer reads it. Drops events that follow the upstream's error or the
 * end of the answer, and events without an object, because clients crash on both.
 */
export class PassThroughReader implements ReplyReader {
  readonly #observer: ReplyObserver;
  readonly #client: ReplyRecipient;
  readonly #options: PassThroughOptions;
  readonly #framer = new SseFramer();
  /** Digest up to the last event, if the client does not get that event. */
  #digestBeforeDropped: { readonly digest: string | undefined } | undefined;
  #convertingReader: ReplyReader | undefined;
  #convertedReply: WholeReply | undefined;
  #framingFailure: GatewayError | undefined;
  /** True once an error has followed a finished answer. The answer counts as complete, because the client has all of it. */
  #isClosed = false;
  progress = 0;

  constructor(observer: ReplyObserver, client: ReplyRecipient, options: PassThroughOptions = {}) {
    this.#observer = observer;
    this.#client = client;
    this.#options = options;
  }

  get hasContent(): boolean {
    return this.#observer.hasContent;
  }

  get isComplete(): boolean {
    return this.#observer.isComplete;
  }

  get isFinished(): boolean {
    return this.#observer.isFinished;
  }

  get failure(): GatewayError | undefined {
    return this.#isClosed ? undefined : this.#anyFailure;
  }

  get #anyFailure(): GatewayError | undefined {
    return this.#framingFailure ?? this.#observer.failure ?? this.#options.repair?.failure;
  }

  get usage(): ReplyReader['usage'] {
    if (this.#convertedReply !== undefined) return this.#convertedReply.usage;
    const { usage, hasContent, isComplete } = this.#observer;
    return hasContent && this.#options.adapter !== undefined
      ? this.#options.adapter.meter.complete(usage, isComplete)
      : usage;
  }

  get isPolicyRefusal(): boolean {
    return (this.#convertingReader ?? this.#observer).isPolicyRefusal === true;
  }

  get digests(): ReplyReader['digests'] {
    if (this.#convertingReader !== undefined) return this.#convertingReader.digests;
    const digest = this.#contentDigest;
    return { received: digest, sent: digest };
  }

  /** Digest of the content that the client gets, with repairs, because the observer reads repaired events. */
  get #contentDigest(): string | undefined {
    if (this.#digestBeforeDropped !== undefined) return this.#digestBeforeDropped.digest;
    return (
      (this.#observer.isComplete ? undefined : this.#options.repair?.readUnfinishedContent?.())?.digest ??
      this.#options.content?.digest
    );
  }

  get answeredModel(): string | undefined {
    return (this.#convertingReader ?? this.#observer).answeredModel;
  }

  get notes(): ReplyReader['notes'] {
    return this.#convertingReader?.notes ?? this.#options.repair?.notes;
  }

  get held(): number {
    return this.#convertingReader?.held ?? this.#options.repair?.held ?? 0;
  }

  finished(): JsonObject | undefined {
    if (this.#convertingReader !== undefined) return this.#convertingReader.finished?.();
    const { isComplete, usage } = this.#observer;
    const finished = isComplete ? this.#options.repair?.finishedReply : undefined;
    const adaptedReply = finished && (this.#options.adapter?.adaptFinishedReply?.(finished, usage) ?? finished);
    return adaptedReply && (this.#options.namer?.renameFinished(adaptedReply) ?? adaptedReply);
  }

  renderFailure(error: GatewayError): string {
    const text =
      this.#options.repair?.renderFailure?.(error, this.usage) ??
      renderStreamError(error, { ...this.#client, format: undefined });
    return this.#renameModel(this.#options.adapter?.adaptFailure?.(text, this.#observer.usage) ?? text);
  }

  whole(body: Buffer, contentType: string): WholeReply {
    return runToEnd(this.#readWhole(body, contentType));
  }

  convert(body: Buffer, isEventStream: boolean): WholeReply {
    return runToEnd(this.#convertInSteps(body, { isEventStream, isStreamRequested: !isEventStream }));
  }

  steps(body: Buffer, contentType: string, kind: AnswerKind): Generator<undefined, WholeReply> {
    const isConverted = kind.isEventStream !== kind.isStreamRequested;
    return isConverted ? this.#convertInSteps(body, kind) : this.#readWhole(body, contentType);
  }

  *#readWhole(body: Buffer, contentType: string): Generator<undefined, WholeReply> {
    const original = body.toString();
    yield;
    const excess = findExcess(original, bounds.replyValues);
    if (excess !== undefined) {
      if (this.#options.readLargeUsage === undefined) throw createMalformedReplyError('excess', excess);
      const renamed = this.#options.namer?.renameReply(original) ?? original;
      return { body: Buffer.from(renamed), contentType, usage: this.#options.readLargeUsage(original) };
    }
    yield;
    const parsed = parseObject(original);
    yield;
    const value = parsed && (this.#options.repair?.repairReply(parsed, original) ?? parsed);
    if (value === undefined) throw createMalformedReplyError(body.length === 0 ? 'body_empty' : 'body_malformed');
    this.#observer.observeReply(value);
    if (this.#observer.failure !== undefined) throw this.#observer.failure;
    if (!this.#observer.hasContent) throw createMalformedReplyError('body_unanswered');
    yield;
    const text = value === parsed ? original : JSON.stringify(value);
    yield;
    const adaptedText = this.#options.adapter?.adaptReply(text, value, this.#observer.usage) ?? text;
    yield;
    const renamed = this.#options.namer?.renameReply(adaptedText) ?? adaptedText;
    return { body: renamed === original ? body : Buffer.from(renamed), contentType, usage: this.usage };
  }

  *#convertInSteps(body: Buffer, kind: AnswerKind): Generator<undefined, WholeReply> {
    this.#convertingReader = this.#options.converter?.();
    const steps = this.#convertingReader?.steps?.(body, '', kind);
    this.#convertedReply = steps && (yield* steps);
    if (this.#convertedReply !== undefined) return this.#convertedReply;
    throw createMalformedReplyError(kind.isEventStream ? 'stream_unasked' : 'stream_missing');
  }

  push(chunk: Buffer): Buffer {
    if (this.#observer.isOver || this.#isClosed) return emptyBuffer;
    const events = this.#framer.push(chunk);
    if (this.#framer.isOverLimit) this.#framingFailure = createMalformedReplyError('event_too_large');
    return events.length === 0 ? emptyBuffer : joinBuffers(this.#passEvents(events));
  }

  end(): Buffer {
    const observer = this.#observer;
    const lastBytes = this.#takeLastEvent();
    if (!observer.isComplete || this.failure !== undefined) return joinBuffers(lastBytes);
    const appended = this.#options.adapter?.renderEnd?.(observer.usage) ?? '';
    const ending = observer.isOver ? appended : appended + (observer.endMark ?? '');
    return joinBuffers(ending === '' ? lastBytes : [...lastBytes, Buffer.from(this.#renameModel(ending))]);
  }

  /** Forwards a last event that lacks its blank line if it completes the answer. Drops an event that was cut off. */
  #takeLastEvent(): readonly Buffer[] {
    const events = this.#framer.end();
    if (this.#observer.isOver || this.#isClosed || events.some(hasInvalidData)) return [];
    const digest = events.length === 0 ? undefined : this.#contentDigest;
    const passedBytes = this.#passEvents(events);
    if (!this.#observer.isComplete || passedBytes.length === 0) {
      // If the error event repeats the answer so far, that includes this event.
      if (events.length > 0 && this.#options.repair?.readUnfinishedContent === undefined)
        this.#digestBeforeDropped = { digest };
      return [];
    }
    return this.#observer.isOver ? passedBytes : [...passedBytes, blankLine];
  }

  #renameModel(events: string): string {
    return this.#options.namer?.renameEvents(events) ?? events;
  }

  #passEvents(events: readonly StreamEvent[]): readonly Buffer[] {
    const passedBytes: Buffer[] = [];
    for (const event of events) {
      const wasFinished = this.#observer.isFinished;
      for (const repaired of this.#options.repair?.repairEvent(event) ?? [event])
        this.#passEvent(repaired, passedBytes);
      if (this.#anyFailure !== undefined && wasFinished) this.#isClosed = true;
      if (this.#anyFailure !== undefined || this.#observer.isOver) break;
    }
    return passedBytes;
  }

  #passEvent(event: StreamEvent, passed: Buffer[]): void {
    if (this.#anyFailure !== undefined || this.#observer.isOver) return;
    this.#observe(event);
    if (this.#anyFailure !== undefined || !(event.isPlain || isReadable(event))) return;
    const adaptedText = this.#options.adapter?.adaptEvent(event, this.#observer.usage) ?? event.text;
    if (adaptedText === event.text) passed.push(this.#options.namer?.renameEvent(event) ?? event.raw);
    else if (adaptedText !== '') passed.push(Buffer.from(this.#renameModel(adaptedText)));
    if (!this.#observer.isOver || endsInBlankLine.test(adaptedText)) return;
    passed.push(adaptedText.endsWith('\n') ? lineFeed : blankLine);
  }

  #observe(event: StreamEvent): void {
    if (event.data === undefined) return;
    const wasComplete = this.#observer.isComplete;
    // Without the truncated event, the answer would be a different one.
    if (!event.isPlain && isTruncatedObject(event.data))
      this.#framingFailure = createMalformedReplyError('event_truncated');
    else this.#observer.observeEvent(event);
    if (event.isPlain || !isPing(event)) this.progress++;
    // Only the event's name, not its data, indicates that the answer is complete.
    if (!wasComplete && this.#observer.isComplete && hasInvalidData(event))
      this.#framingFailure = createMalformedReplyError('event_truncated');
  }
}

/** Some vendors put the name of a keep-alive event into the data, as its type. */
const pingNames = new Set<string | undefined>(['ping', 'keepalive', 'keep-alive', 'heartbeat']);
const pingType = /^\{\s*"type"\s*:\s*"(?:ping|keepalive|keep-alive|heartbeat)"/;
const maxPingLength = 100; // characters of data

function isPing({ name, data = '' }: StreamEvent): boolean {
  return pingNames.has(name) || (data.length <= maxPingLength && pingType.test(data));
}

/** Returns true if the event's data was cut off anywhere, even after a brace, so clients would throw on it. */
function hasInvalidData(event: StreamEvent): boolean {
  return event.data !== undefined && event.data.trim() !== '[DONE]' && event.parse() === undefined;
}

function isReadable({ data, text }: StreamEvent): boolean {
  if (data === undefined) return text.startsWith(':') || text.trim() === '';
  return data.startsWith('{') || data.trimStart().startsWith('{') || data.trim() === '[DONE]';
}

function joinBuffers(parts: readonly Buffer[]): Buffer {
  if (parts.length === 0) return emptyBuffer;
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}
