import { refuseForMemory } from '#core/gateway/http/collect-body.ts';
import { renderError } from '#core/gateway/pipeline/render-error.ts';
import { noteFailure } from '#core/platform/background.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { sumSizes } from '#core/platform/memory/collected-bytes.ts';
import { composeBody } from './compose-body.ts';
import { writeErrorFrame, maxLanes, writeProtocolError, protocolErrors, ProtocolFault } from './error-frames.ts';
import { toByteString } from './event-frames.ts';
import { createTurnHeaders } from './handshake.ts';
import { Lanes, maxRequests, createTooManyRunningError, createTooManyWaitingError } from './lanes.ts';
import { LastResponses } from './last-responses.ts';
import {
  type ClientFrame,
  type CreateFrame,
  readLaneName,
  readCreateFrame,
  readFrame,
  refuseEvent,
  readText,
} from './read-frame.ts';
import type { SocketContext, SocketInit } from './socket-init.ts';
import { type LifeLimits, SocketLife } from './socket-life.ts';
import { writeSteerRefusal } from './steer-refusal.ts';
import { FrameWriter } from './text-frames.ts';
import { SocketTurn, type TurnSocket } from './turn.ts';

const unauthenticatedTimeoutMs = 10_000; // how long a client without a valid key may take to send its first message
const closeGraceMs = 60_000; // how long an expired socket stays open to reject requests
const maxRefusals = 200; // consecutive; one more disconnects the client

const emptyRequest = Buffer.from('{"type":"response.create"}');

const tooOldReason = 'the connection is too old';

/** One WebSocket: its lanes, the responses that it can continue, and its lifetime. */
export class ClientSocket implements TurnSocket {
  readonly isCodex: boolean;
  readonly noticePrefix: string;
  readonly frames: FrameWriter;
  readonly #context: SocketContext;
  readonly #init: SocketInit;
  readonly #lanes: Lanes;
  readonly #lastResponses: LastResponses;
  readonly #laneNames = new Set<string>();
  readonly #turns = new Set<SocketTurn>();
  readonly #openedAt: number;
  readonly #life: SocketLife;
  #isDraining = false;
  #refusalCount = 0;

  constructor(context: SocketContext, init: SocketInit) {
    this.#context = context;
    this.#init = init;
    this.isCodex = init.isCodex;
    this.noticePrefix = init.noticePrefix;
    this.#lastResponses = new LastResponses(context.keptConversations);
    this.#openedAt = context.now();
    this.#life = new SocketLife(init.ws, init.socket, init.memory, () => context.now());
    this.frames = new FrameWriter(init.ws, init.socket);
    this.#lanes = new Lanes(
      { ...maxRequests, maxWaitMs: init.queueWaitSeconds * 1000 },
      () => !this.frames.isFull,
      () => this.#closeIfDone(),
      () => context.now(),
    );
  }

  listen(onClosed: () => void): void {
    const { ws, socket } = this.#init;
    ws.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    ws.on('ping', (data: Buffer) => this.#life.countControlFrame(data.length));
    ws.on('pong', (data: Buffer) => this.#life.countControlFrame(data.length));
    // ws itself closes the connection after a protocol violation, with the matching code.
    ws.on('error', () => undefined);
    ws.once('close', () => {
      this.#abandonTurns();
      onClosed();
    });
    // Must run before ws reads the bytes, which may complete a message.
    socket.prependListener('data', (chunk: Buffer) => this.#countBytes(chunk.length));
    socket.on('drain', () => this.#resume());
    socket.once('end', () => this.#abandonTurns());
  }

  keepResponse(turn: SocketTurn, id: string, items: readonly Buffer[]): void {
    const { ws } = this.#init;
    const isOpen = ws.readyState === ws.OPEN;
    const keptResponse = isOpen
      ? this.#context.keptConversations.keep(turn.account, id, turn.keptSegments, items)
      : undefined;
    this.#lastResponses.replace(laneOf(turn.frame), keptResponse);
  }

  forgetPrevious({ frame }: SocketTurn): void {
    this.#lastResponses.forget(laneOf(frame), frame.previousId);
  }

  rejectKey(): void {
    this.#close(1008, 'invalid API key');
  }

  /** Checks the connection. Called every few seconds. */
  sweep(limits: LifeLimits): void {
    const { ws, isAuthenticated } = this.#init;
    if (ws.readyState !== ws.OPEN) return;
    const endReason = this.#life.check(limits);
    if (!isAuthenticated && this.#ageMs() > unauthenticatedTimeoutMs) this.#rejectUnauthenticated();
    else if (endReason === 'slow') this.#close(1008, 'the message did not arrive in time');
    else if (endReason !== undefined) ws.terminate();
    else if (this.#isTooOld(closeGraceMs) && this.#lanes.isIdle) this.#close(1001, tooOldReason);
  }

  /** Closes the connection as soon as no request is running. */
  drain(): void {
    this.#isDraining = true;
    this.#closeIfDone();
  }

  #rejectUnauthenticated(): void {
    // Answers an empty request, so that the rejection is recorded and counted.
    this.#readMessage(emptyRequest);
  }

  #countBytes(bytes: number): void {
    const { memory, ws } = this.#init;
    if (ws.readyState !== ws.OPEN || this.#life.countBytes(bytes)) return;
    memory.countRefusal('body');
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

  #abandonTurns(): void {
    this.#lanes.close();
    for (const turn of this.#turns) turn.abandon();
    this.#lastResponses.clear();
    this.#init.memory.release();
  }

  #resume(): void {
    if (this.frames.isFull) return;
    for (const turn of this.#turns) turn.resume();
    this.#lanes.startRequests();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { ws } = this.#init;
    this.#life.endMessage();
    if (ws.readyState !== ws.OPEN) return;
    if (isBinary) {
      this.#close(1003, 'send text');
      return;
    }
    this.#readMessage(data);
  }

  #readMessage(message: Buffer): void {
    let streamId: string | undefined;
    try {
      const frame = readFrame(message);
      streamId = readLaneName(frame);
      this.#dispatchFrame(frame);
    } catch (error) {
      this.#refuse(error, streamId);
    }
  }

  #dispatchFrame(frame: ClientFrame): void {
    if (frame.type === 'response.create') this.#admitRequest(frame);
    else if (frame.type === 'response.steer') this.#sendRefusal(writeSteerRefusal(frame));
    // Codex sends `response.interrupt`, Pipecat `response.cancel`, as in the Realtime API.
    else if (frame.type === 'response.interrupt' || frame.type === 'response.cancel') this.#interrupt(frame);
    else refuseEvent(frame);
  }

  #admitRequest(event: ClientFrame): void {
    const frame = readCreateFrame(event);
    const { streamId } = frame;
    if (this.#isDraining) throw new ProtocolFault(protocolErrors.restarting);
    if (this.#isTooOld()) {
      this.#refuse(new ProtocolFault(protocolErrors.tooOld(this.#init.maxMinutes)), streamId);
      if (this.#lanes.isIdle) this.#close(1001, tooOldReason);
      return;
    }
    if (streamId !== undefined && !this.#laneNames.has(streamId) && this.#laneNames.size >= maxLanes)
      throw new ProtocolFault(protocolErrors.tooManyLanes);
    if (streamId !== undefined) this.#laneNames.add(streamId);
    this.#enqueue(frame);
  }

  #enqueue(frame: CreateFrame): void {
    const { waitingMemory, maxBytes } = this.#init;
    const { length } = frame.bytes;
    if (!this.#lanes.isIdle && waitingMemory.bytes + length > maxBytes) throw createTooManyWaitingError();
    if (!waitingMemory.grow(length)) throw refuseForMemory(waitingMemory);
    let heldBytes = length;
    // Called when the body is read, and again when the request ends.
    const release = () => {
      waitingMemory.shrink(heldBytes);
      heldBytes = 0;
    };
    const start = (waitedMs: number) => this.#runTurn(frame, waitedMs, release).finally(release);
    const refuse = () => {
      release();
      this.#refuse(createTooManyRunningError(), frame.streamId);
    };
    if (this.#lanes.add({ lane: laneOf(frame), isLimited: frame.generates, start, refuse, release })) return;
    release();
    throw createTooManyWaitingError();
  }

  #isTooOld(grace = 0): boolean {
    return this.#ageMs() > this.#init.maxMinutes * 60_000 + grace;
  }

  #ageMs(): number {
    return this.#context.now() - this.#openedAt;
  }

  /** Never rejects. `onRead` is called when a stage after the limiting stages reads the body, because the request then no longer waits. */
  async #runTurn(frame: CreateFrame, waitedMs: number, onRead: () => void): Promise<void> {
    const { messageRunner, endpoint, warmUp } = this.#context;
    const { headers, path, query, remoteAddress } = this.#init;
    const previousConversation = this.#lastResponses.find(frame.previousId);
    if (!frame.generates && frame.previousId !== undefined && previousConversation === undefined) {
      this.#refuse(new ProtocolFault(protocolErrors.previousNotFound(frame.previousId)), frame.streamId);
      return;
    }
    const previousSegments = previousConversation?.segments.map((segment) => segment.addHolder());
    const slotWaitMs = Math.max(0, this.#init.queueWaitSeconds * 1000 - waitedMs);
    const turn = new SocketTurn(this, frame, previousSegments, slotWaitMs);
    this.#turns.add(turn);
    this.#refusalCount = 0;
    // A warm-up request sends no conversation to an upstream.
    const segments = frame.generates ? previousSegments : previousSegments?.slice(0, 0);
    const body = composeBody(
      frame,
      segments?.map(({ bytes }) => bytes),
      turn.newItems,
    );
    await messageRunner.runMessage(
      {
        endpoint: frame.generates ? endpoint : warmUp,
        path,
        query,
        headers: createTurnHeaders(headers, sumSizes(body)),
        remoteAddress,
        body,
        onRead,
        outlines: new Map(segments?.map((segment) => [segment.bytes, segment])),
      },
      turn,
    );
    this.#turns.delete(turn);
    for (const segment of previousSegments ?? []) segment.removeHolder();
  }

  #interrupt(frame: ClientFrame): void {
    const id = readText(frame, 'response_id');
    for (const turn of this.#turns) if (turn.responseId === id && id !== undefined && turn.interrupt()) return;
    const message = `Response with id '${(id ?? '').slice(0, 200)}' is not running.`;
    throw new GatewayError('invalid_request', message, { param: 'response_id' });
  }

  #refuse(error: unknown, streamId: string | undefined): void {
    const recipient = { streamId, isCodex: this.isCodex };
    if (error instanceof ProtocolFault) {
      this.#sendRefusal(writeProtocolError(error.error, recipient));
      return;
    }
    if (!(error instanceof GatewayError))
      noteFailure(this.#context.messageRunner.serving.host.log, 'reading a message', error);
    const refusal = error instanceof GatewayError ? error : new GatewayError('internal_error', 'Internal error.');
    const { format } = this.#context.endpoint;
    this.#sendRefusal(writeErrorFrame(renderError(refusal, { id: '', format, dialect: 'openai' }), recipient));
  }

  #sendRefusal(frame: string): void {
    this.frames.send([toByteString(frame)]);
    if (++this.#refusalCount > maxRefusals) this.#close(1008, 'too many messages that cannot be served');
  }
}

function laneOf({ streamId }: CreateFrame): string {
  return streamId ?? ''; // names are never empty
}
