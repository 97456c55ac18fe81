import { noteFailure } from '#core/platform/background.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { sizeOf } from '#core/platform/memory/collected-bytes.ts';
import { refuseForMemory } from '#core/gateway/http/collect-body.ts';
import { renderError } from '#core/gateway/pipeline/render-error.ts';
import { composeBody } from './compose-body.ts';
import { errorFrame, mostLanes, protocolError, protocolErrors, ProtocolFault } from './error-frames.ts';
import { bytesOf } from './event-frames.ts';
import { headersOfTurn } from './handshake.ts';
import { LastResponses } from './last-responses.ts';
import { Lanes, mostRequests, tooManyRunning, tooManyWaiting } from './lanes.ts';
import {
  type ClientFrame,
  type CreateFrame,
  namedLane,
  readCreate,
  readFrame,
  refuseEvent,
  textOf,
} from './read-frame.ts';
import { steerRefusal } from './steer-refusal.ts';
import { FrameWriter } from './text-frames.ts';
import type { SocketContext, SocketInit } from './socket-init.ts';
import { type LifeLimits, SocketLife } from './socket-life.ts';
import { SocketTurn, type TurnSocket } from './turn.ts';

const unauthenticatedTime = 10_000; // ms for the first message of a client without a valid key
const closeGrace = 60_000; // ms for which an expired socket stays open to reject requests
/** Consecutive rejected messages after which a client is disconnected. */
const mostRefused = 200;

const emptyRequest = Buffer.from('{"type":"response.create"}');

const tooOld = 'the connection is too old';

/** One WebSocket: its lanes, the responses that it can continue, and its lifetime. */
export class ClientSocket implements TurnSocket {
  readonly isCodex: boolean;
  readonly noticePrefix: string;
  readonly frames: FrameWriter;
  readonly #context: SocketContext;
  readonly #init: SocketInit;
  readonly #lanes: Lanes;
  readonly #last: LastResponses;
  readonly #names = new Set<string>();
  readonly #turns = new Set<SocketTurn>();
  readonly #openedAt: number;
  readonly #life: SocketLife;
  #isDraining = false;
  #refused = 0;

  constructor(context: SocketContext, init: SocketInit) {
    this.#context = context;
    this.#init = init;
    this.isCodex = init.isCodex;
    this.noticePrefix = init.noticePrefix;
    this.#last = new LastResponses(context.kept);
    this.#openedAt = context.now();
    this.#life = new SocketLife(init.ws, init.socket, init.memory, () => context.now());
    this.frames = new FrameWriter(init.ws, init.socket);
    this.#lanes = new Lanes(
      { ...mostRequests, wait: init.queueWait * 1000 },
      () => !this.frames.isFull,
      () => this.#closeIfDone(),
      () => context.now(),
    );
  }

  /** @param onClosed called once */
  listen(onClosed: () => void): void {
    const { ws, socket } = this.#init;
    ws.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    ws.on('ping', (data: Buffer) => this.#life.control(data.length));
    ws.on('pong', (data: Buffer) => this.#life.control(data.length));
    // A protocol violation: ws closes the connection with the matching code.
    ws.on('error', () => undefined);
    ws.once('close', () => {
      this.#leave();
      onClosed();
    });
    // Bytes are counted before ws reads them and may find the end of a message.
    socket.prependListener('data', (chunk: Buffer) => this.#count(chunk.length));
    socket.on('drain', () => this.#resume());
    socket.once('end', () => this.#leave());
  }

  // For turns.

  keep(turn: SocketTurn, id: string, items: readonly Buffer[]): void {
    const { ws } = this.#init;
    const isOpen = ws.readyState === ws.OPEN;
    const next = isOpen ? this.#context.kept.keep(turn.account, id, turn.prefix, items) : undefined;
    this.#last.replace(laneOf(turn.frame), next);
  }

  forget({ frame }: SocketTurn): void {
    this.#last.forget(laneOf(frame), frame.previousId);
  }

  rejectKey(): void {
    this.#close(1008, 'invalid API key');
  }

  // The life of the connection.

  /** Checks the connection every few seconds. */
  sweep(limits: LifeLimits): void {
    const { ws, isAuthenticated } = this.#init;
    if (ws.readyState !== ws.OPEN) return;
    const end = this.#life.look(limits);
    if (!isAuthenticated && this.#age() > unauthenticatedTime) this.#turnAway();
    else if (end === 'slow') this.#close(1008, 'the message did not arrive in time');
    else if (end !== undefined) ws.terminate();
    else if (this.#isTooOld(closeGrace) && this.#lanes.isIdle) this.#close(1001, tooOld);
  }

  /** Closes the connection once no request runs. */
  drain(): void {
    this.#isDraining = true;
    this.#closeIfDone();
  }

  /** For a client without a valid key that sent no message, an empty request is rejected, recorded and counted. */
  #turnAway(): void {
    this.#read(emptyRequest);
  }

  #count(bytes: number): void {
    const { memory, ws } = this.#init;
    if (ws.readyState !== ws.OPEN || this.#life.receive(bytes)) return;
    memory.refuse('body');
    this.#close(1013, 'too little memory');
    setImmediate(() => ws.terminate());
  }

  #close(code: number, reason: string): void {
    this.frames.flush();
    this.#init.ws.close(code, reason);
  }

  #closeIfDone(): void {
    if (this.#isDraining && this.#lanes.isIdle) this.#close(1012, 'the gateway is restarting');
  }

  #leave(): void {
    this.#lanes.close();
    for (const turn of this.#turns) turn.leave();
    this.#last.clear();
    this.#init.memory.release();
  }

  #resume(): void {
    if (this.frames.isFull) return;
    for (const turn of this.#turns) turn.resume();
    this.#lanes.look();
  }

  // Messages.

  #receive(data: Buffer, isBinary: boolean): void {
    const { ws } = this.#init;
    this.#life.endMessage();
    if (ws.readyState !== ws.OPEN) return;
    if (isBinary) {
      this.#close(1003, 'send text');
      return;
    }
    this.#read(data);
  }

  #read(message: Buffer): void {
    let streamId: string | undefined;
    try {
      const frame = readFrame(message);
      streamId = namedLane(frame);
      this.#handle(frame);
    } catch (error) {
      this.#refuse(error, streamId);
    }
  }

  #handle(frame: ClientFrame): void {
    if (frame.type === 'response.create') this.#create(frame);
    else if (frame.type === 'response.steer') this.#say(steerRefusal(frame));
    else if (frame.type === 'response.interrupt') this.#interrupt(frame);
    else refuseEvent(frame);
  }

  /** @throws GatewayError, ProtocolFault */
  #create(event: ClientFrame): void {
    const frame = readCreate(event);
    const { streamId } = frame;
    if (this.#isDraining) throw new ProtocolFault(protocolErrors.restarting);
    if (this.#isTooOld()) {
      this.#refuse(new ProtocolFault(protocolErrors.tooOld(this.#init.minutes)), streamId);
      if (this.#lanes.isIdle) this.#close(1001, tooOld);
      return;
    }
    if (streamId !== undefined && !this.#names.has(streamId) && this.#names.size >= mostLanes)
      throw new ProtocolFault(protocolErrors.tooManyLanes);
    if (streamId !== undefined) this.#names.add(streamId);
    this.#wait(frame);
  }

  /** @throws GatewayError if too many requests are waiting or there is no memory for the request */
  #wait(frame: CreateFrame): void {
    const { waiting, maxBytes } = this.#init;
    const { length } = frame.bytes;
    if (!this.#lanes.isIdle && waiting.bytes + length > maxBytes) throw tooManyWaiting();
    if (!waiting.grow(length)) throw refuseForMemory(waiting);
    let held = length;
    const release = () => {
      waiting.shrink(held);
      held = 0;
    };
    const start = (waited: number) => this.#run(frame, waited, release).finally(release);
    const refuse = () => {
      release();
      this.#refuse(tooManyRunning(), frame.streamId);
    };
    if (this.#lanes.add({ lane: laneOf(frame), isCounted: frame.generates, start, refuse, release })) return;
    release();
    throw tooManyWaiting();
  }

  #isTooOld(grace = 0): boolean {
    return this.#age() > this.#init.minutes * 60_000 + grace;
  }

  #age(): number {
    return this.#context.now() - this.#openedAt;
  }

  /**
   * Never rejects.
   *
   * @param waited ms for which the request has waited for other requests of this socket
   * @param onRead called when the request no longer waits: the stages after those that limit requests read its body
   */
  async #run(frame: CreateFrame, waited: number, onRead: () => void): Promise<void> {
    const { conversations, endpoint, warmUp } = this.#context;
    const { headers, path, query, remoteAddress } = this.#init;
    const previous = this.#last.find(frame.previousId);
    if (!frame.generates && frame.previousId !== undefined && previous === undefined) {
      this.#refuse(new ProtocolFault(protocolErrors.previousNotFound(frame.previousId)), frame.streamId);
      return;
    }
    const before = previous?.segments.map((segment) => segment.hold());
    const slotWait = Math.max(0, this.#init.queueWait * 1000 - waited);
    const turn = new SocketTurn(this, frame, before, slotWait);
    this.#turns.add(turn);
    this.#refused = 0;
    // A request that is answered here sends no conversation to an upstream.
    const items = frame.generates ? before : before?.slice(0, 0);
    const body = composeBody(
      frame,
      items?.map(({ bytes }) => bytes),
    );
    await conversations.runMessage(
      {
        endpoint: frame.generates ? endpoint : warmUp,
        path,
        query,
        headers: headersOfTurn(headers, sizeOf(body)),
        remoteAddress,
        body,
        onRead,
        outlines: new Map(items?.map((segment) => [segment.bytes, segment])),
      },
      turn,
    );
    this.#turns.delete(turn);
    for (const segment of before ?? []) segment.letGo();
  }

  /** @throws GatewayError `invalid_request` for a response that does not run */
  #interrupt(frame: ClientFrame): void {
    const id = textOf(frame, 'response_id');
    for (const turn of this.#turns) if (turn.responseId === id && id !== undefined && turn.interrupt()) return;
    const message = `Response with id '${(id ?? '').slice(0, 200)}' is not running.`;
    throw new GatewayError('invalid_request', message, { param: 'response_id' });
  }

  #refuse(error: unknown, streamId: string | undefined): void {
    const recipient = { streamId, isCodex: this.isCodex };
    if (error instanceof ProtocolFault) {
      this.#say(protocolError(error.error, recipient));
      return;
    }
    if (!(error instanceof GatewayError))
      noteFailure(this.#context.conversations.serving.host.log, 'reading a message', error);
    const refusal = error instanceof GatewayError ? error : new GatewayError('internal_error', 'Internal error.');
    const { format } = this.#context.endpoint;
    this.#say(errorFrame(renderError(refusal, { id: '', format, dialect: 'openai' }), recipient));
  }

  /** Answers a message that does not become a request. */
  #say(frame: string): void {
    this.frames.send([bytesOf(frame)]);
    if (++this.#refused > mostRefused) this.#close(1008, 'too many messages that cannot be served');
  }
}

/** The lane of a request; empty for the lane without a name, because no name is empty. */
function laneOf({ streamId }: CreateFrame): string {
  return streamId ?? '';
}
