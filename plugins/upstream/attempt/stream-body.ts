import { bounds } from '#core/platform/bounds.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { footprint } from '#core/platform/memory/budget.ts';
import { ReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { type Answer, type AnswerBody, finishGrace } from './contract.ts';
import { answerFault, interruptedFault, type Fault } from './fault.ts';

/** Characters of a response that are read without reserving memory; most responses are shorter. */
const unreservedLength = 65_536;
/** Characters up to which a response is not aborted for lack of memory: 64,000 tokens. */
const protectedLength = 262_144;
const maxPacketBytes = 65_536;

/**
 * A requested stream of events, or a stream of bytes. Gated until its first content: events are buffered here, and the client receives
 * nothing. Then they are forwarded at the speed of the client.
 */
export class StreamBody implements AnswerBody {
  readonly #answer: Answer;
  readonly #bytesType: string | undefined; // undefined for events
  readonly #gated = new CollectedBytes();
  #received = 0; // bytes before the first content
  #isOpening = false; // the first content has arrived
  #receivedAtContent = 0; // bytes
  #unfinished = 0; // bytes of incomplete events
  #reservedCharacters = 0; // characters held by the reader for which memory is reserved
  #stream: ReplyStream | undefined; // set once bytes may go to the client
  #isInGrace = false;

  /** @param bytesType content type of an answer that is not events, and ends with the body */
  constructor(answer: Answer, bytesType?: string) {
    this.#answer = answer;
    this.#bytesType = bytesType;
    const { firstByteTimeout, progressTimeout } = answer.request.limits;
    answer.clock.allow(firstByteTimeout * 1000, progressTimeout * 1000);
  }

  take(chunk: Buffer): void {
    const { clock, reader } = this.#answer;
    if (!this.#reserve(chunk)) return;
    if (this.#stream !== undefined) {
      const before = reader.progress;
      const events = reader.push(chunk);
      if (events.length > 0) this.#unfinished = 0;
      if (reader.progress !== before) clock.noteProgress();
      this.#forward(this.#stream, events);
      return;
    }
    this.#received += chunk.length;
    this.#gate(reader.push(chunk));
  }

  end(): void {
    this.#endUnlessComplete();
  }

  expire(timeout: Fault): void {
    this.#endUnlessComplete(timeout);
  }

  disconnect(fault: Fault): void {
    this.#endUnlessComplete(fault);
  }

  close(fault: Fault | undefined): void {
    if (fault === undefined || this.#answer.request.isResumable) this.#stream?.push(null);
    else this.#stream?.breakOff(fault.error);
  }

  /**
   * Reserves memory for a long event, such as an image, for the events before the first content, and for the text that the reader holds.
   *
   * @returns false if none is left
   */
  #reserve(chunk: Buffer): boolean {
    const { held = 0 } = this.#answer.reader;
    const hasGrown = held - this.#reservedCharacters >= unreservedLength;
    if (hasGrown) this.#reservedCharacters = held;
    // For a long response, memory for its end is reserved too: some formats repeat all of it there.
    const readerBytes =
      this.#reservedCharacters * (this.#reservedCharacters > protectedLength ? footprint.reply : footprint.kept);
    const before = this.#unfinished;
    this.#unfinished += chunk.length;
    if (this.#unfinished > bounds.smallBody) return this.#answer.hold(readerBytes + this.#unfinished * footprint.event);
    return (before > 0 && !hasGrown) || this.#answer.hold(readerBytes, this.#reservedCharacters > protectedLength);
  }

  /**
   * The upstream ended the response.
   *
   * @param fault if the response is unfinished; default: closed early
   */
  #endUnlessComplete(fault?: Fault): void {
    const { reader } = this.#answer;
    const remainder = reader.end();
    if (this.#stream === undefined) this.#gate(remainder);
    else this.#forward(this.#stream, remainder);
    const isComplete = this.#bytesType === undefined ? reader.isComplete : fault === undefined && reader.hasContent;
    if (isComplete && this.#isOpening) this.#open();
    this.#answer.end(isComplete ? undefined : (fault ?? closedEarly()));
  }

  #gate(events: Buffer): void {
    const { reader } = this.#answer;
    if (events.length > 0) {
      this.#gated.add(events);
      this.#unfinished = this.#gated.size;
    }
    if (this.#endOnFailure()) return;
    if (reader.hasContent) this.#openSoon();
    else if (reader.isComplete)
      this.#answer.end(interruptedFault('upstream_failed', upstreamReason('upstream.reason.ended_empty')));
    else if (this.#gated.size > bounds.gatedEvents || this.#received > bounds.gatedBytes)
      this.#answer.end(interruptedFault('upstream_failed', upstreamReason('upstream.reason.stream_empty')));
    else this.#limitGrace();
  }

  /** Events that arrived with the first content are read first: a stream that fails among them can still fail over. */
  #openSoon(): void {
    if (this.#isOpening) return;
    this.#isOpening = true;
    this.#receivedAtContent = this.#received;
    this.#openAfterReading();
  }

  #openAfterReading(): void {
    // The outer callback runs at the end of this turn of the event loop, the inner one after all sockets were read once more.
    setImmediate(() =>
      setImmediate(() => {
        if (this.#answer.isYielding && this.#isInPacketOfContent) this.#openAfterReading();
        // A destroyed connection reports its fault later in the same turn.
        else if (!this.#answer.isDisconnected) this.#open();
      }),
    );
  }

  /** Data of later packets is not awaited: with a fast upstream, the attempt yields continuously. */
  get #isInPacketOfContent(): boolean {
    return this.#received - this.#receivedAtContent < maxPacketBytes;
  }

  #open(): void {
    if (this.#stream !== undefined || this.#answer.isOver) return;
    const { clock, reader, request } = this.#answer;
    clock.noteContent();
    clock.allow(request.limits.idleTimeout * 1000);
    clock.liftLimit();
    this.#isInGrace = false;
    const body = new ReplyStream({
      read: () => {
        clock.resume();
        this.#answer.resume();
      },
      // The reader is gone: the exchange's signal has the reason, and the upstream must stop now.
      close: () => this.#answer.end(),
    });
    this.#stream = body;
    const renderFailure = reader.renderFailure.bind(reader);
    this.#answer.handOver({ body, renderFailure }, this.#bytesType ?? 'text/event-stream; charset=utf-8');
    this.#unfinished = 0;
    this.#forward(body, this.#gated.take());
  }

  #forward(stream: ReplyStream, events: Buffer): void {
    const { clock } = this.#answer;
    if (events.length > 0 && !stream.push(events)) {
      this.#answer.pause();
      clock.pause();
    }
    if (this.#endOnFailure()) return;
    this.#limitGrace();
  }

  /** Starts the grace period of a finished response, and ends it if content follows: some vendors send a finish reason in every chunk. */
  #limitGrace(): void {
    const { clock, reader } = this.#answer;
    if (reader.isFinished === this.#isInGrace) return;
    this.#isInGrace = reader.isFinished;
    if (reader.isFinished) clock.limit(finishGrace);
    else clock.liftLimit();
  }

  #endOnFailure(): boolean {
    const { reader, status, request } = this.#answer;
    if (reader.failure === undefined) return false;
    this.#answer.end(answerFault(reader.failure, status, request.secrets?.()));
    return true;
  }
}

/** Created on demand, because an error captures its stack. */
function closedEarly(): Fault {
  return interruptedFault('upstream_failed', upstreamReason('upstream.reason.cut'));
}
