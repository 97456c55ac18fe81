import { createParser } from 'eventsource-parser';
import type { ReplyReader, WholeReply } from '#core/model-call/adapter.ts';
import { GatewayError } from '#core/errors/table.ts';
import type { ReplyAmender } from './adapt-reply.ts';
import { EventSplitter } from './event-splitter.ts';
import { isTornObject, parseObject } from '../request/members.ts';
import type { ReplyObserver } from '../reply-observer.ts';

const none = Buffer.alloc(0);
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
/** The end of one event: a line end and an empty line, in any of the three spellings. */
const eventEnd = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;

/**
 * Hands a reply on as it came, for routes that speak the client's own format. An observer looks on; what follows an
 * error of the upstream or the end of the answer is held back, and so are events that are no objects: clients die of both.
 */
export class PassThroughReader implements ReplyReader {
  readonly #observer: ReplyObserver;
  readonly #amender: ReplyAmender | undefined;
  readonly #splitter = new EventSplitter();
  readonly #parser = createParser({ onEvent: ({ event, data }) => this.#take(event, data) });
  readonly #converter: (() => ReplyReader) | undefined;
  #hasBegun = false;
  /** True when the event at hand has data that a client can read. */
  #isReadable = false;
  #converting: ReplyReader | undefined;
  #converted: WholeReply | undefined;
  #damage: GatewayError | undefined;

  /** @param converter makes a reader that can convert; undefined where the format knows only one kind */
  constructor(observer: ReplyObserver, amender?: ReplyAmender, converter?: () => ReplyReader) {
    this.#observer = observer;
    this.#amender = amender;
    this.#converter = converter;
  }

  get hasContent(): boolean {
    return this.#observer.hasContent;
  }

  get isComplete(): boolean {
    return this.#observer.isComplete;
  }

  get failure(): GatewayError | undefined {
    return this.#damage ?? this.#observer.failure;
  }

  get usage(): ReplyReader['usage'] {
    if (this.#converted !== undefined) return this.#converted.usage;
    const { usage, hasContent, isComplete } = this.#observer;
    return hasContent && this.#amender !== undefined ? this.#amender.meter.complete(usage, isComplete) : usage;
  }

  get notes(): ReplyReader['notes'] {
    return this.#converting?.notes;
  }

  renderFailure(error: GatewayError): string {
    const event = this.#observer.renderFailure(error, this.usage);
    return this.#amender?.event(event, this.#observer.usage) ?? event;
  }

  whole(body: Buffer, contentType: string): WholeReply {
    const text = body.toString();
    const value = parseObject(text);
    if (value === undefined) throw noAnswer(body.length === 0 ? 'an empty body' : `a body that is no JSON object`);
    this.#observer.whole(value);
    if (this.#observer.failure !== undefined) throw this.#observer.failure;
    if (!this.#observer.hasContent) throw noAnswer('a body without an answer');
    const amended = this.#amender?.whole(text, this.#observer.usage) ?? text;
    return { body: amended === text ? body : Buffer.from(amended), contentType, usage: this.usage };
  }

  convert(body: Buffer, isEventStream: boolean): WholeReply {
    this.#converting = this.#converter?.();
    this.#converted = this.#converting?.convert?.(body, isEventStream);
    if (this.#converted !== undefined) return this.#converted;
    throw noAnswer(isEventStream ? 'a stream, although none was asked for' : 'no stream, although one was asked for');
  }

  push(chunk: Buffer): Buffer {
    if (this.#observer.isOver) return none;
    const events = this.#splitter.push(this.#hasBegun ? chunk : withoutMark(chunk));
    this.#hasBegun = true;
    if (this.#splitter.isOverfull) this.#damage = noAnswer('an event larger than any answer');
    return events.length === 0 ? events : this.#observe(events);
  }

  end(): Buffer {
    const last = this.#last();
    if (!this.#observer.isComplete || this.failure !== undefined) return last;
    const owed = this.#amender?.end?.(this.#observer.usage) ?? '';
    return owed === '' ? last : Buffer.concat([last, Buffer.from(owed)]);
  }

  #last(): Buffer {
    const rest = this.#splitter.rest();
    // A last event whose blank line was forgotten is whole when the observer finds the ending in it.
    if (rest.length === 0 || this.#observer.isComplete) return none;
    const closed = Buffer.concat([rest, Buffer.from('\n\n')]);
    const seen = this.#observe(closed);
    return this.#observer.isComplete ? seen : none;
  }

  /** Without what is missing in a damaged event, the rest would be another answer. */
  #take(name: string | undefined, data: string): void {
    const begin = data.trimStart();
    this.#isReadable = begin.startsWith('{') || begin.trimEnd() === '[DONE]';
    if (isTornObject(data)) this.#damage = noAnswer('a damaged event');
    else this.#observer.event(name, data);
  }

  /** Shows each event to the observer and returns those that come before a failure or the end. */
  #observe(events: Buffer): Buffer {
    const text = events.toString();
    let amended = '';
    let begin = 0;
    eventEnd.lastIndex = 0;
    for (let match = eventEnd.exec(text); match !== null; match = eventEnd.exec(text)) {
      const event = text.slice(begin, eventEnd.lastIndex);
      begin = eventEnd.lastIndex;
      this.#isReadable = isComment(event);
      this.#parser.feed(event);
      if (this.failure !== undefined) return Buffer.from(amended);
      if (!this.#isReadable) continue;
      amended += this.#amender?.event(event, this.#observer.usage) ?? event;
      if (this.#observer.isOver) break;
    }
    return amended === text ? events : Buffer.from(amended);
  }
}

/** True for what keeps a connection alive and says nothing. */
function isComment(event: string): boolean {
  return event.startsWith(':') || event.trim() === '';
}

function withoutMark(chunk: Buffer): Buffer {
  return chunk.subarray(0, 3).equals(byteOrderMark) ? chunk.subarray(3) : chunk;
}

function noAnswer(what: string): GatewayError {
  return new GatewayError('upstream_failed', `the upstream answered with ${what}`);
}
