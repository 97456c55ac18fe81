import { Readable } from 'node:stream';
import { delivery, principal, slotWait } from '#core/gateway/facts.ts';
import { type BodyReading, readReply } from '#core/gateway/http/read-reply.ts';
import type { MessageClient, MessageDelivery } from '#core/gateway/http/run-message.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { renderError, renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import { createTruncatedReplyError, discard, type Reply, replyListener } from '#core/gateway/pipeline/reply.ts';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { continuedId, expandedItems } from '../state/responses-store/store.ts';
import { separateItems } from './compose-body.ts';
import { writeErrorFrame, writeProtocolError, protocolErrors } from './error-frames.ts';
import { toByteString, parseEvents, writePayload, createLanePrefix, type FramedEvent } from './event-frames.ts';
import type { ConversationSegment } from './kept-conversations.ts';
import { readNewItems } from './new-items.ts';
import type { CreateFrame } from './read-frame.ts';
import type { FrameWriter } from './text-frames.ts';
import { convertResponseToEvents, TurnOutput } from './turn-output.ts';

export interface TurnSocket {
  readonly isCodex: boolean;
  /** Prefix of the headers that are sent in `response.metadata` along with the request id. */
  readonly noticePrefix: string;
  /** If it is full, the turn waits to be resumed. */
  readonly frames: Pick<FrameWriter, 'isFull' | 'send'>;
  /** @param items all items of its conversation that follow the turn's `keptSegments` */
  keepResponse(turn: SocketTurn, id: string, items: readonly Buffer[]): void;
  /** Drops the response that a failed request continued in its own lane. */
  forgetPrevious(turn: SocketTurn): void;
  rejectKey(): void;
}

/** The client side of the exchange for a `response.create`. */
export class SocketTurn implements MessageClient {
  readonly frame: CreateFrame;
  /** Segments of the kept conversation that the request continues; undefined for a new conversation or a stored response. */
  readonly previousSegments: readonly ConversationSegment[] | undefined;
  readonly newItems: Buffer;
  readonly #socket: TurnSocket;
  readonly #slotWaitMs: number;
  readonly #output = new TurnOutput();
  readonly #lanePrefix: string | undefined;
  readonly #delivery = { bytes: 0, firstByteAfter: undefined as number | undefined };
  #exchange: Exchange | undefined;
  #reading: BodyReading | undefined;
  #hasEnded = false;
  #isClientGone = false;
  #hasErrorEvent = false;

  /** @param slotWaitMs how long the request may wait for a slot of its key */
  constructor(
    socket: TurnSocket,
    frame: CreateFrame,
    previousSegments: readonly ConversationSegment[] | undefined,
    slotWaitMs: number,
  ) {
    this.#socket = socket;
    this.#slotWaitMs = slotWaitMs;
    this.frame = frame;
    this.#lanePrefix = createLanePrefix(frame.streamId);
    this.previousSegments = previousSegments;
    this.newItems = readNewItems(frame, previousSegments?.at(-1)?.bytes);
  }

  /** Undefined unless the response is running. */
  get responseId(): string | undefined {
    return this.#hasEnded ? undefined : this.#output.id;
  }

  onStart(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.set(slotWait, this.#slotWaitMs);
    if (this.previousSegments !== undefined && this.frame.previousId !== undefined)
      exchange.set(continuedId, this.frame.previousId);
    if (this.#isClientGone) exchange.abort(new ClientGone());
  }

  abandon(): void {
    this.#isClientGone = true;
    this.#exchange?.abort(new ClientGone());
  }

  resume(): void {
    this.#reading?.resume();
  }

  /** Ends the response for the client, which keeps the finished items. Returns false if no response is running. */
  interrupt(): boolean {
    const ending = this.#hasEnded ? undefined : this.#output.writeInterruption(this.#exchange?.find(delivery)?.usage);
    const { id } = this.#output;
    if (ending === undefined || id === undefined) return false;
    this.#hasEnded = true;
    this.#socket.keepResponse(this, id, this.#listNewItems());
    this.#sendFrames([writePayload(ending.data, this.#lanePrefix)]);
    this.#exchange?.abort(new ClientGone());
    return true;
  }

  async deliver(
    exchange: Exchange,
    reply: Reply,
    onStalled: (seconds: number) => GatewayError,
  ): Promise<MessageDelivery> {
    if (exchange.isClientGone) {
      discard(reply);
      return { ...this.#delivery, status: undefined };
    }
    if (reply.status !== 200) return this.#sendRejection(exchange, reply);
    const metadata = createMetadata(exchange, reply, this.#socket.noticePrefix);
    const isEventStream = reply.headers['content-type']?.startsWith('text/event-stream') === true;
    if (reply.body instanceof Readable && isEventStream)
      await this.#sendStream(exchange, reply, reply.body, metadata, onStalled);
    else this.#sendNonStreaming(exchange, reply, metadata, isEventStream);
    this.#finishStream(exchange);
    return { ...this.#delivery, status: 200 };
  }

  #sendRejection(exchange: Exchange, reply: Reply): MessageDelivery {
    discard(reply);
    const { failure } = exchange;
    const recipient = this.#createRecipient(exchange);
    const { previousId } = this.frame;
    const isPreviousUnknown =
      failure?.code === 'previous_response_not_found' && failure.details.param === 'previous_response_id';
    this.#socket.forgetPrevious(this);
    this.#hasEnded = true;
    this.#sendFrame(
      isPreviousUnknown && previousId !== undefined
        ? writeProtocolError(protocolErrors.previousNotFound(previousId), recipient)
        : writeErrorFrame(reply, recipient),
    );
    if (failure?.code === 'invalid_api_key') this.#socket.rejectKey();
    return { ...this.#delivery, status: reply.status };
  }

  async #sendStream(
    exchange: Exchange,
    reply: Reply,
    body: Readable,
    metadata: JsonObject,
    onStalled: (seconds: number) => GatewayError,
  ): Promise<void> {
    const reading = readReply(exchange, body, {
      write: (chunk) => this.#forwardEvents(parseEvents(chunk), metadata),
      isFull: () => this.#socket.frames.isFull,
      onStalled,
    });
    this.#reading = reading;
    const reason = await reading.ended;
    if (reason instanceof GatewayError && !this.#hasEnded) this.#endBroken(exchange, reply, reason, metadata);
  }

  #endBroken(exchange: Exchange, reply: Reply, error: GatewayError, metadata: JsonObject): void {
    exchange.fail(error);
    if (this.#output.id === undefined) {
      this.#sendFailure(exchange, error);
      return;
    }
    try {
      const text = reply.renderFailure?.(error) ?? renderStreamError(error, exchange);
      exchange.find(replyListener)?.(text);
      this.#forwardEvents(parseEvents(Buffer.from(text)), metadata);
    } catch (thrown) {
      this.#sendFailure(exchange, toGatewayError(thrown));
    }
  }

  #sendNonStreaming(exchange: Exchange, { body }: Reply, metadata: JsonObject, isEventStream: boolean): void {
    const bytes = Buffer.from((body ?? '') as string);
    exchange.find(replyListener)?.(bytes);
    const response = isEventStream ? undefined : parseObject(bytes.toString());
    this.#forwardEvents(isEventStream ? parseEvents(bytes) : convertResponseToEvents(response ?? {}), metadata);
  }

  #finishStream(exchange: Exchange): void {
    if (this.#hasEnded || exchange.isClientGone) return;
    const truncated = createTruncatedReplyError();
    if (!this.#hasErrorEvent) exchange.fail(truncated);
    this.#sendFailure(exchange, exchange.failure ?? truncated);
  }

  #sendFailure(exchange: Exchange, error: GatewayError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#socket.forgetPrevious(this);
    this.#sendFrame(writeErrorFrame(renderError(error, exchange), this.#createRecipient(exchange)));
  }

  /** Forwards events up to the response's end. Returns false if the client reads too slowly. */
  #forwardEvents(events: readonly FramedEvent[], metadata: JsonObject): boolean {
    const frames: string[] = [];
    for (const event of events) {
      if (this.#hasEnded) break;
      const progress = this.#output.read(event);
      if (progress === 'error') {
        // Not forwarded, because a failure ends with the response's final event or with a rejection.
        this.#hasErrorEvent = true;
        continue;
      }
      if (progress === 'ended') this.#endResponse(this.#output.id);
      if (progress === 'failed') this.#endResponse(undefined);
      frames.push(writePayload(event.data, this.#lanePrefix));
      if (progress === 'begun') frames.push(writePayload(toByteString(JSON.stringify(metadata)), this.#lanePrefix));
    }
    this.#sendFrames(frames);
    return !this.#socket.frames.isFull;
  }

  #endResponse(id: string | undefined): void {
    this.#hasEnded = true;
    if (id === undefined) this.#socket.forgetPrevious(this);
    else this.#socket.keepResponse(this, id, this.#listNewItems());
  }

  /** The kept conversation before this turn's items; empty if the store has expanded the request to the complete conversation. */
  get keptSegments(): readonly ConversationSegment[] {
    return this.#exchange?.find(expandedItems) === undefined ? (this.previousSegments ?? []) : [];
  }

  #listNewItems(): readonly Buffer[] {
    const storedItems = this.#exchange?.find(expandedItems);
    const requestItems =
      storedItems === undefined ? this.newItems : Buffer.from(JSON.stringify(storedItems).slice(1, -1));
    return separateItems([requestItems, ...this.#output.listItems()]);
  }

  #sendFrame(frame: string): void {
    this.#sendFrames([toByteString(frame)]);
  }

  #sendFrames(frames: readonly string[]): void {
    if (frames.length === 0) return;
    this.#delivery.firstByteAfter ??= this.#exchange?.elapsed;
    for (const { length } of frames) this.#delivery.bytes += length;
    this.#socket.frames.send(frames);
  }

  #createRecipient(exchange: Exchange) {
    return { streamId: this.frame.streamId, requestId: exchange.id, isCodex: this.#socket.isCodex };
  }

  get account(): string {
    return this.#exchange?.find(principal)?.accountId ?? '';
  }
}

/** Creates an event with the headers that a POST's response would have. Codex reads it; SDKs ignore it. */
function createMetadata(exchange: Exchange, { headers }: Reply, prefix: string): JsonObject {
  const notices = Object.entries(headers).filter(([name]) => name.startsWith(prefix));
  return { type: 'response.metadata', headers: { 'x-request-id': exchange.id, ...Object.fromEntries(notices) } };
}
