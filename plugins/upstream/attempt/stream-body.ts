import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { ReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import { bounds } from '#core/platform/bounds.ts';
import { footprint } from '#core/platform/memory/budget.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { type UpstreamResponse, type ResponseBody, finishGraceMs } from './contract.ts';
import { createResponseFault, createInterruptedFault, type Fault } from './fault.ts';

const unreservedCharacters = 65_536; // read without reserving memory; most responses are shorter
const protectedCharacters = 262_144; // about 64,000 tokens; shorter responses are never aborted for lack of memory
const maxPacketBytes = 65_536;

/**
 * A requested stream of events, or a stream of bytes. It is gated until the first content: events are buffered here and nothing is sent to
 * the client. After that, events are forwarded at the client's speed.
 */
export class StreamBody implements ResponseBody {
  readonly #response: UpstreamResponse;
  readonly #bytesType: string | undefined; // undefined for events
  readonly #gatedEvents = new CollectedBytes();
  #receivedBytes = 0; // before the stream is opened
  #isOpening = false; // true once the first content has arrived
  #bytesUntilContent = 0;
  #unfinishedBytes = 0; // of incomplete events
  #reservedCharacters = 0; // characters that the reader holds and for which memory is reserved
  #stream: ReplyStream | undefined; // set once the client may receive bytes
  #isInGrace = false;

  /** @param bytesType content type of a response that is not events and ends with its body */
  constructor(response: UpstreamResponse, bytesType?: string) {
    this.#response = response;
    this.#bytesType = bytesType;
    const { firstByteTimeout, progressTimeout } = response.request.limits;
    response.clock.setTimeouts(firstByteTimeout * 1000, progressTimeout * 1000);
  }

  receive(chunk: Buffer): void {
    const { clock, reader } = this.#response;
    if (!this.#reserve(chunk)) return;
    if (this.#stream !== undefined) {
      const previousProgress = reader.progress;
      const events = reader.push(chunk);
      if (events.length > 0) this.#unfinishedBytes = 0;
      if (reader.progress !== previousProgress) clock.noteProgress();
      this.#forward(this.#stream, events);
      return;
    }
    this.#receivedBytes += chunk.length;
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
    if (fault === undefined || this.#response.request.isResumable) this.#stream?.push(null);
    else this.#stream?.endWithError(fault.error);
  }

  /**
   * Reserves memory for a long event such as an image, for events before the first content, and for text that the reader buffers. Returns
   * false if the attempt ended for lack of memory.
   */
  #reserve(chunk: Buffer): boolean {
    const { held = 0 } = this.#response.reader;
    const needsReservation = held - this.#reservedCharacters >= unreservedCharacters;
    if (needsReservation) this.#reservedCharacters = held;
    // The end of a long response needs memory as well, because some formats repeat the whole text there.
    const readerBytes =
      this.#reservedCharacters *
      (this.#reservedCharacters > protectedCharacters ? footprint.reply : footprint.translated);
    const previousUnfinishedBytes = this.#unfinishedBytes;
    this.#unfinishedBytes += chunk.length;
    if (this.#unfinishedBytes > bounds.smallBody)
      return this.#response.reserveMemory(readerBytes + this.#unfinishedBytes * footprint.event);
    return (
      (previousUnfinishedBytes > 0 && !needsReservation) ||
      this.#response.reserveMemory(readerBytes, this.#reservedCharacters > protectedCharacters)
    );
  }

  #endUnlessComplete(fault?: Fault): void {
    const { reader } = this.#response;
    const remainder = reader.end();
    if (this.#stream === undefined) this.#gate(remainder);
    else this.#forward(this.#stream, remainder);
    const isComplete = this.#bytesType === undefined ? reader.isComplete : fault === undefined && reader.hasContent;
    if (isComplete && this.#isOpening) this.#open();
    if (isComplete) this.#response.end();
    else this.#response.end(fault ?? createInterruptedFault('upstream_failed', upstreamReason('upstream.reason.cut')));
  }

  #gate(events: Buffer): void {
    const { reader } = this.#response;
    if (events.length > 0) {
      this.#gatedEvents.add(events);
      this.#unfinishedBytes = this.#gatedEvents.size;
    }
    if (this.#endOnFailure()) return;
    if (reader.hasContent) this.#scheduleOpening();
    else if (reader.isComplete)
      this.#response.end(createInterruptedFault('upstream_failed', upstreamReason('upstream.reason.ended_empty')));
    else if (this.#gatedEvents.size > bounds.gatedEvents || this.#receivedBytes > bounds.gatedBytes)
      this.#response.end(createInterruptedFault('upstream_failed', upstreamReason('upstream.reason.stream_empty')));
    else this.#updateGrace();
  }

  /**
   * Opens the stream once all events that arrived with the first content have been read. If one of them fails, another route can take over.
   */
  #scheduleOpening(): void {
    if (this.#isOpening) return;
    this.#isOpening = true;
    this.#bytesUntilContent = this.#receivedBytes;
    this.#openAfterNextRead();
  }

  #openAfterNextRead(): void {
    // The outer callback runs at the end of this turn of the event loop, the inner one after every socket has been read once more.
    setImmediate(() =>
      setImmediate(() => {
        if (this.#response.isYielding && this.#isInContentPacket) this.#openAfterNextRead();
        // If the connection has been destroyed, its fault is reported later in the same turn.
        else if (!this.#response.isDisconnected) this.#open();
      }),
    );
  }

  /**
   * True while the packet with the first content is being read. Later packets are not awaited, because with a fast upstream the attempt
   * yields all the time.
   */
  get #isInContentPacket(): boolean {
    return this.#receivedBytes - this.#bytesUntilContent < maxPacketBytes;
  }

  #open(): void {
    if (this.#stream !== undefined || this.#response.isOver) return;
    const { clock, reader, request } = this.#response;
    clock.noteContent();
    clock.setTimeouts(request.limits.idleTimeout * 1000);
    clock.cancelGrace();
    this.#isInGrace = false;
    const stream = new ReplyStream({
      read: () => {
        clock.resume();
        this.#response.resume();
      },
      // The reply has no reader left. The exchange's signal carries the reason, and the upstream must stop now.
      close: () => this.#response.end(),
    });
    this.#stream = stream;
    const renderFailure = reader.renderFailure.bind(reader);
    this.#response.handOver({ body: stream, renderFailure }, this.#bytesType ?? 'text/event-stream; charset=utf-8');
    this.#unfinishedBytes = 0;
    this.#forward(stream, this.#gatedEvents.take());
  }

  #forward(stream: ReplyStream, events: Buffer): void {
    const { clock } = this.#response;
    if (events.length > 0 && !stream.push(events)) {
      this.#response.pause();
      clock.pause();
    }
    if (this.#endOnFailure()) return;
    this.#updateGrace();
  }

  /**
   * Starts the grace period when the response is finished, and cancels it if content follows: some vendors send a finish reason in each
   * chunk.
   */
  #updateGrace(): void {
    const { clock, reader } = this.#response;
    if (reader.isFinished === this.#isInGrace) return;
    this.#isInGrace = reader.isFinished;
    if (reader.isFinished) clock.startGrace(finishGraceMs);
    else clock.cancelGrace();
  }

  #endOnFailure(): boolean {
    const { reader, status, request } = this.#response;
    if (reader.failure === undefined) return false;
    this.#response.end(createResponseFault(reader.failure, status, request.secrets?.()));
    return true;
  }
}
