import { Readable } from 'node:stream';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { delivery, principal, slotWait } from '#core/gateway/facts.ts';
import type { MessageClient, MessageDelivery } from '#core/gateway/http/run-message.ts';
import { type BodyReading, readReply } from '#core/gateway/http/read-reply.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { renderError, renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import { discard, type Reply, replyListener } from '#core/gateway/pipeline/reply.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { continuedId, expandedItems } from '../state/responses-store/store.ts';
import { keptItems, ownItems } from './compose-body.ts';
import { errorFrame, protocolError, protocolErrors } from './error-frames.ts';
import { bytesOf, eventsOf, inLane, laneOpening, type FramedEvent } from './event-frames.ts';
import type { KeptItems } from './kept.ts';
import type { CreateFrame } from './read-frame.ts';
import type { FrameWriter } from './text-frames.ts';
import { eventsOfWhole, TurnOutput } from './turn-output.ts';

/** A turn's interface to its socket. */
export interface TurnSocket {
  readonly isCodex: boolean;
  /** Prefix of the headers that go into `response.metadata`, together with the request's id. */
  readonly noticePrefix: string;
  /** While it is full, the turn waits to be resumed. */
  readonly frames: Pick<FrameWriter, 'isFull' | 'send'>;
  /** Makes the response continuable. @param items all items of its conversation after `before` */
  keep(turn: SocketTurn, id: string, items: readonly Buffer[]): void;
  /** Called when the request failed: drops the response that it continues in its own lane. */
  forget(turn: SocketTurn): void;
  /** Called when the API key is not valid. */
  rejectKey(): void;
}

/** The client side of the exchange of a `response.create`. */
export class SocketTurn implements MessageClient {
  readonly frame: CreateFrame;
  /** Segments of the kept conversation that the request continues; undefined for a whole request or a stored response. */
  readonly before: readonly KeptItems[] | undefined;
  readonly #socket: TurnSocket;
  readonly #slotWait: number;
  readonly #output = new TurnOutput();
  readonly #opening: string | undefined;
  readonly #sent = { bytes: 0, firstByteAfter: undefined as number | undefined };
  #exchange: Exchange | undefined;
  #reading: BodyReading | undefined;
  /** True once the client has the end of the response. */
  #isOver = false;
  /** True once the client has left, so nothing more may be sent. */
  #isLeft = false;
  #heldError: FramedEvent | undefined;

  /** @param wait ms that the request may wait for a slot of its key */
  constructor(socket: TurnSocket, frame: CreateFrame, before: readonly KeptItems[] | undefined, wait: number) {
    this.#socket = socket;
    this.#slotWait = wait;
    this.frame = frame;
    this.#opening = laneOpening(frame.streamId);
    this.before = before;
  }

  /** Id of the response; undefined until it has begun. */
  get responseId(): string | undefined {
    return this.#isOver ? undefined : this.#output.id;
  }

  onStart(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.set(slotWait, this.#slotWait);
    if (this.before !== undefined && this.frame.previousId !== undefined)
      exchange.set(continuedId, this.frame.previousId);
    if (this.#isLeft) exchange.abort(new ClientGone());
  }

  /** Called when the client has left. */
  leave(): void {
    this.#isLeft = true;
    this.#exchange?.abort(new ClientGone());
  }

  /** Called when the client reads again. */
  resume(): void {
    this.#reading?.resume();
  }

  /** Ends the response for the client, which keeps the finished items. @returns false if no response is running */
  interrupt(): boolean {
    const ending = this.#isOver ? undefined : this.#output.interrupted(this.#exchange?.find(delivery)?.usage);
    const { id } = this.#output;
    if (ending === undefined || id === undefined) return false;
    this.#isOver = true;
    this.#socket.keep(this, id, this.#added());
    this.#send([inLane(ending.data, this.#opening)]);
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
      return { ...this.#sent, status: undefined };
    }
    if (reply.status !== 200) return this.#refuse(exchange, reply);
    const metadata = metadataOf(exchange, reply, this.#socket.noticePrefix);
    const events = reply.headers['content-type']?.startsWith('text/event-stream') === true;
    if (reply.body instanceof Readable && events) await this.#stream(exchange, reply, reply.body, metadata, onStalled);
    else this.#whole(exchange, reply, metadata, events);
    this.#finish(exchange);
    return { ...this.#sent, status: 200 };
  }

  #refuse(exchange: Exchange, reply: Reply): MessageDelivery {
    discard(reply);
    const code = exchange.failure?.code;
    const recipient = this.#recipient(exchange);
    const { previousId } = this.frame;
    const isUnknown = code === 'previous_response_not_found' && previousId !== undefined;
    this.#socket.forget(this);
    this.#isOver = true;
    this.#say(
      isUnknown && (exchange.failure?.details.param ?? '') === 'previous_response_id'
        ? protocolError(protocolErrors.previousNotFound(previousId), recipient)
        : errorFrame(reply, recipient),
    );
    if (code === 'invalid_api_key') this.#socket.rejectKey();
    return { ...this.#sent, status: reply.status };
  }

  async #stream(
    exchange: Exchange,
    reply: Reply,
    body: Readable,
    metadata: JsonObject,
    onStalled: (seconds: number) => GatewayError,
  ): Promise<void> {
    const reading = readReply(exchange, body, {
      write: (chunk) => this.#take(eventsOf(chunk), metadata),
      isFull: () => this.#socket.frames.isFull,
      onStalled,
    });
    this.#reading = reading;
    const reason = await reading.ended;
    if (reason instanceof GatewayError && !this.#isOver) this.#breakOff(exchange, reply, reason, metadata);
  }

  /** Ends a broken response: with an event if the response has begun, otherwise like a rejection. */
  #breakOff(exchange: Exchange, reply: Reply, error: GatewayError, metadata: JsonObject): void {
    exchange.fail(error);
    if (this.#output.id === undefined) {
      this.#fail(exchange, error);
      return;
    }
    try {
      const text = reply.renderFailure?.(error) ?? renderStreamError(error, exchange);
      exchange.find(replyListener)?.(text);
      this.#take(eventsOf(Buffer.from(text)), metadata);
    } catch (thrown) {
      this.#fail(exchange, toGatewayError(thrown));
    }
  }

  #whole(exchange: Exchange, { body }: Reply, metadata: JsonObject, isEvents: boolean): void {
    const bytes = Buffer.from((body ?? '') as string);
    exchange.find(replyListener)?.(bytes);
    const response = isEvents ? undefined : parseObject(bytes.toString());
    this.#take(isEvents ? eventsOf(bytes) : eventsOfWhole(response ?? {}), metadata);
  }

  /** Ends the response for a stream that ended with only an error or without a final event. */
  #finish(exchange: Exchange): void {
    if (this.#isOver || exchange.isClientGone) return;
    const truncated = new GatewayError('upstream_failed', 'The response was truncated.');
    if (this.#heldError === undefined) exchange.fail(truncated);
    this.#fail(exchange, exchange.failure ?? truncated);
  }

  #fail(exchange: Exchange, error: GatewayError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket.forget(this);
    this.#say(errorFrame(renderError(error, exchange), this.#recipient(exchange)));
  }

  /** @returns false if the client reads too slowly */
  #take(events: readonly FramedEvent[], metadata: JsonObject): boolean {
    const frames: string[] = [];
    for (const event of events) {
      if (this.#isOver) break;
      const stage = this.#output.read(event);
      if (stage === 'error') {
        // A failure ends with the event of its response or with a rejection.
        this.#heldError = event;
        continue;
      }
      if (stage === 'ended') this.#end(this.#output.id);
      if (stage === 'failed') this.#end(undefined);
      frames.push(inLane(event.data, this.#opening));
      if (stage === 'begun') frames.push(inLane(bytesOf(JSON.stringify(metadata)), this.#opening));
    }
    this.#send(frames);
    return !this.#socket.frames.isFull;
  }

  /** @param id id of the response, which can be continued; undefined if the response failed */
  #end(id: string | undefined): void {
    this.#isOver = true;
    if (id === undefined) this.#socket.forget(this);
    else this.#socket.keep(this, id, this.#added());
  }

  /** The kept conversation before the items of this turn; empty if the request looked up the whole conversation. */
  get prefix(): readonly KeptItems[] {
    return this.#exchange?.find(expandedItems) === undefined ? (this.before ?? []) : [];
  }

  /** The items after the kept conversation: those of the request and of its answer. */
  #added(): readonly Buffer[] {
    const stored = this.#exchange?.find(expandedItems);
    const asked = stored === undefined ? ownItems(this.frame) : Buffer.from(JSON.stringify(stored).slice(1, -1));
    return keptItems([asked, ...this.#output.items()]);
  }

  #say(frame: string): void {
    this.#send([bytesOf(frame)]);
  }

  #send(frames: readonly string[]): void {
    if (frames.length === 0) return;
    this.#sent.firstByteAfter ??= this.#exchange?.elapsed;
    for (const { length } of frames) this.#sent.bytes += length;
    this.#socket.frames.send(frames);
  }

  #recipient(exchange: Exchange) {
    return { streamId: this.frame.streamId, requestId: exchange.id, isCodex: this.#socket.isCodex };
  }

  /** The account that sent the request. */
  get account(): string {
    return this.#exchange?.find(principal)?.accountId ?? '';
  }
}

/** The response headers of a POST as an event, which Codex reads and SDKs ignore. */
function metadataOf(exchange: Exchange, { headers }: Reply, begin: string): JsonObject {
  const metadata = Object.entries(headers).filter(([name]) => name.startsWith(begin));
  return { type: 'response.metadata', headers: { 'x-request-id': exchange.id, ...Object.fromEntries(metadata) } };
}
