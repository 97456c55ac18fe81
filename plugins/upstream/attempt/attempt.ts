import type { Dispatcher } from 'undici';
import { bounds } from '#core/bounds.ts';
import type { ReplyReader, WholeReply } from '#core/model-call/adapter.ts';
import { GatewayError, toGatewayError } from '#core/errors/table.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { ReplyStream } from '#core/pipeline/reply-stream.ts';
import { AttemptClock } from './clock.ts';
import { isEventStream, jsonType, looksLikeEvents } from './answer-kind.ts';
import { answerFault, brokenOff, connectionFault, type Fault, routeFault } from './fault.ts';
import { refusalFault } from './refusal.ts';

/** What an attempt may take. */
export interface AttemptLimits {
  readonly firstByteTimeout: number; // seconds until the head of the answer, and again until its first content
  readonly idleTimeout: number; // seconds without a byte
  readonly deadline: number; // seconds until a whole answer is complete, or a stream's first content is there
}

export interface AttemptRequest {
  readonly agent: Dispatcher;
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | string;
  readonly isStream: boolean;
  /** True when whoever reads a stream learns from `onEnd` that it was broken off: it then ends without an error. */
  readonly isResumable?: boolean;
  readonly limits: AttemptLimits;
  readonly now: () => number;
  /** What no error may show: keys and host of the upstream. Asked for when there is an error. */
  readonly secrets?: () => readonly string[];
  /** There is a connection, new or old, and the request goes out. */
  readonly onConnected?: () => void;
  /** Content of the answer has come. */
  readonly onContent: () => void;
  /** Everything is over; the fault is what broke a stream off after it was handed over. */
  readonly onEnd: (fault: Fault | undefined) => void;
}

/** Ms that a stream may stay open after its last event. */
const lingerAfterEnd = 1_000;

/** Ms that the body of a refusal is waited for: status and first bytes tell enough for another route to be asked. */
const refusalTime = 2_000;

/**
 * One try on one route. Holds a stream back until its first content has come: until then the client has seen nothing
 * and another route can take over. A whole answer is held back until its end, for the same reason.
 *
 * Written against undici's dispatch, because its request and stream functions cost as much again as the rest of an
 * exchange.
 */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly #request: AttemptRequest;
  readonly #reader: ReplyReader;
  readonly #result = Promise.withResolvers<Reply>();
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Readonly<Record<string, string | string[] | undefined>> = {};
  #mode: 'waiting' | 'refused' | 'unlabelled' | 'whole' | 'other_kind' | 'gated' | 'streaming' | 'over' = 'waiting';
  #chunks: Buffer[] = [];
  #size = 0;
  #received = 0; // bytes of a stream before its first content
  #body: ReplyStream | undefined;
  readonly #clock: AttemptClock;
  #hasEnded = false;

  constructor(request: AttemptRequest, reader: ReplyReader) {
    this.#request = request;
    this.#reader = reader;
    const { deadline, firstByteTimeout: silence } = request.limits;
    this.#clock = new AttemptClock({ deadline, silence, onLate: (isSilent) => this.#giveUp(isSilent) });
  }

  /** Status that the upstream answered with; undefined before it has. */
  get status(): number | undefined {
    return this.#status === 0 ? undefined : this.#status;
  }

  /** True when the answer had to wait for its client: how long it took says nothing about the route. */
  get wasHeldBack(): boolean {
    return this.#clock.wasHeldBack;
  }

  /** @throws Fault when the route did not serve and nothing has gone to the client */
  run(): Promise<Reply> {
    const { agent, origin, path, headers, body } = this.#request;
    try {
      agent.dispatch({ origin, path, method: 'POST', headers, body }, this);
    } catch (error) {
      this.#end(connectionFault(error, false));
    }
    return this.#result.promise;
  }

  /** Gives the attempt up, whatever it is doing, and lets the upstream know by closing the connection. */
  abort(fault: Fault): void {
    this.#end(fault);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#request.onConnected?.();
    if (this.#mode === 'over') controller.abort(new Error('given up before it was sent'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#clock.heard();
    if (status >= 300) this.#refuse();
    else this.#accept();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // Before the first content only content counts: a stream of pings is no answer.
    if (this.#mode !== 'gated') this.#clock.heard();
    this.#take(chunk);
  }

  #take(chunk: Buffer): void {
    switch (this.#mode) {
      case 'refused':
        if (this.#keep(chunk) > bounds.refusal) this.#end(this.#refusal());
        return;
      case 'whole':
      case 'other_kind':
        if (this.#keep(chunk) > bounds.wholeReply) this.#end(brokenOff('upstream_failed', 'the answer is too large'));
        return;
      case 'unlabelled':
        this.#look(chunk);
        return;
      case 'gated':
        this.#received += chunk.length;
        this.#gate(this.#reader.push(chunk));
        return;
      case 'streaming':
        this.#forward(this.#reader.push(chunk));
        return;
      default:
    }
  }

  onResponseEnd(): void {
    this.#hasEnded = true;
    switch (this.#mode) {
      case 'refused':
        this.#end(this.#refusal());
        return;
      case 'unlabelled':
        this.#expect(false);
        this.#finishWhole();
        return;
      case 'whole':
      case 'other_kind':
        this.#finishWhole();
        return;
      case 'gated':
      case 'streaming':
        this.#finishStream();
        return;
      default:
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#hasEnded = true;
    this.#end(connectionFault(error, this.#status !== 0));
  }

  #refuse(): void {
    this.#mode = 'refused';
    this.#clock.limit(refusalTime);
  }

  /** Decides by the headers what is coming, where they tell. */
  #accept(): void {
    const encoding = this.#headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      this.#end(routeFault('upstream_failed', 'the upstream answered in an encoding that was not asked for'));
      return;
    }
    const isStream = isEventStream(this.#contentType);
    if (isStream === undefined) this.#mode = 'unlabelled';
    else this.#expect(isStream);
  }

  get #contentType(): string {
    return String(this.#headers['content-type'] ?? '');
  }

  /** Some vendors stream what was asked for whole, or the other way round: an answer it is all the same. */
  #expect(isStream: boolean): void {
    if (isStream !== this.#request.isStream) this.#mode = 'other_kind';
    else this.#mode = isStream ? 'gated' : 'whole';
    if (this.#mode !== 'gated') this.#clock.allow(this.#request.limits.idleTimeout * 1000);
  }

  /** Decides by the first bytes what is coming, and takes them. */
  #look(chunk: Buffer): void {
    this.#keep(chunk);
    const begun = this.#collected();
    const isStream = looksLikeEvents(begun);
    if (isStream === undefined) return;
    this.#chunks = [];
    this.#size = 0;
    this.#expect(isStream);
    this.#take(begun);
  }

  /** Keeps bytes for later and returns how many there are. */
  #keep(chunk: Buffer): number {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    return this.#size;
  }

  #collected(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#size);
  }

  #refusal(): Fault {
    const { now, secrets } = this.#request;
    return refusalFault(this.#status, this.#headers, this.#collected(), now(), secrets?.());
  }

  #finishWhole(): void {
    try {
      const { body, contentType } = this.#readWhole();
      this.#request.onContent();
      this.#settle();
      this.#result.resolve({ status: this.#status, headers: { 'content-type': contentType }, body });
      this.#request.onEnd(undefined);
    } catch (error) {
      this.#end(answerFault(toGatewayError(error), this.#status, this.#request.secrets?.()));
    }
  }

  /** @throws GatewayError */
  #readWhole(): WholeReply {
    const body = this.#collected();
    if (this.#mode === 'whole') {
      return this.#reader.whole(body, jsonType(this.#contentType));
    }
    const isStream = !this.#request.isStream;
    if (this.#reader.convert !== undefined) return this.#reader.convert(body, isStream);
    const came = isStream ? 'a stream, although none was asked for' : 'no stream, although one was asked for';
    throw new GatewayError('upstream_failed', `the upstream sent ${came}`);
  }

  /** Lets a stream through once it has content. */
  #gate(events: Buffer): void {
    if (events.length > 0) this.#keep(events);
    if (this.#breakOff()) return;
    if (this.#reader.hasContent) this.#handOver();
    else if (this.#reader.isComplete) this.#end(brokenOff('upstream_failed', 'the stream ended without an answer'));
    else if (this.#size > bounds.gatedEvents || this.#received > bounds.gatedBytes)
      this.#end(brokenOff('upstream_failed', 'the stream brought no content'));
  }

  #handOver(): void {
    this.#mode = 'streaming';
    this.#clock.arrived();
    this.#clock.allow(this.#request.limits.idleTimeout * 1000);
    this.#request.onContent();
    const body = new ReplyStream({
      read: () => this.#resume(),
      // Whoever reads has gone away: the exchange's signal tells why, the upstream has to know at once.
      close: () => this.#end(undefined),
    });
    this.#body = body;
    this.#result.resolve({
      status: this.#status,
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      body,
      renderFailure: (error) => this.#reader.renderFailure(error),
    });
    const events = this.#collected();
    this.#chunks = [];
    this.#forward(events);
  }

  #forward(events: Buffer): void {
    if (events.length > 0 && this.#body?.push(events) === false) this.#pause();
    if (this.#breakOff()) return;
    if (this.#reader.isComplete && this.#clock.silence !== lingerAfterEnd) this.#clock.allow(lingerAfterEnd);
  }

  #pause(): void {
    this.#controller?.pause();
    this.#clock.pause();
  }

  #resume(): void {
    this.#clock.resume();
    this.#controller?.resume();
  }

  /** Ends the attempt when the upstream has reported an error inside the stream. */
  #breakOff(): boolean {
    const { failure } = this.#reader;
    if (failure === undefined) return false;
    this.#end(answerFault(failure, this.#status, this.#request.secrets?.()));
    return true;
  }

  #finishStream(): void {
    const rest = this.#reader.end();
    if (this.#mode === 'gated') this.#gate(rest);
    else this.#forward(rest);
    if (this.#reader.isComplete) this.#end(undefined);
    else this.#end(brokenOff('upstream_failed', 'the upstream broke the answer off'));
  }

  /** Time is up: for most answers with nothing, for a refusal and for a stream after its end with all that counts. */
  #giveUp(isSilent: boolean): void {
    if (this.#mode === 'refused') this.#end(this.#refusal());
    else if (this.#mode === 'streaming' && this.#reader.isComplete) this.#finishStream();
    else this.#end(this.#late(isSilent));
  }

  #late(isSilent: boolean): Fault {
    const words = isSilent
      ? `the upstream was silent for ${Math.round(this.#clock.silence / 1000)} seconds`
      : `the upstream had not answered after ${Math.round(this.#request.limits.deadline)} seconds`;
    const wasSent = this.#controller !== undefined;
    return wasSent ? brokenOff('upstream_timeout', words) : routeFault('upstream_timeout', words);
  }

  /** Ends the attempt: with a fault when it did not serve to its end, without one when it did. */
  #end(fault: Fault | undefined): void {
    if (this.#mode === 'over') return;
    this.#settle();
    if (!this.#hasEnded) this.#controller?.abort(fault ?? new Error('not needed any more'));
    if (this.#body === undefined) this.#result.reject(fault);
    else if (fault === undefined || this.#request.isResumable) this.#body.push(null);
    else this.#body.breakOff(fault.error);
    if (this.#body !== undefined) this.#request.onEnd(fault);
  }

  #settle(): void {
    this.#mode = 'over';
    this.#clock.stop();
  }
}
