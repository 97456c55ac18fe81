import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { noteFailure } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import type { Conversations } from '#core/gateway/http/converse.ts';
import { tooMuch } from '#core/gateway/http/collect-body.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import { composeBody } from './compose-body.ts';
import { mostLanes, protocolError, protocolErrors, refusalFrame } from './error-frames.ts';
import { bytesOf } from './event-frames.ts';
import { headersOfTurn } from './handshake.ts';
import type { Kept, KeptConversations } from './kept.ts';
import { Lanes, mostRequests, tooManyRunning, tooManyWaiting } from './lanes.ts';
import {
  type ClientFrame,
  type CreateFrame,
  InvalidStreamId,
  namedLane,
  readCreate,
  readFrame,
  refuseEvent,
  textOf,
} from './read-frame.ts';
import { steerRefusal } from './steer-refusal.ts';
import { textFrames } from './text-frames.ts';
import { type LifeLimits, SocketLife } from './socket-life.ts';
import { SocketTurn, type TurnSocket } from './turn.ts';

/** Ms for the first message of a client without a valid key. */
const unauthenticatedTime = 10_000;
/** Ms for which a socket that is too old stays open for the requests that are refused on it. */
const closeGrace = 60_000;
/** Refused messages in a row after which a client is turned away. */
const mostRefused = 200;

const emptyRequest = Buffer.from('{"type":"response.create"}');

const tooOld = 'the connection is too old';

/** What every socket of the process has in common. */
export interface SocketContext {
  readonly conversations: Conversations;
  readonly kept: KeptConversations;
  readonly endpoint: Endpoint;
  readonly warmUp: Endpoint;
  now(): number; // ms, monotonic
}

export interface SocketInit {
  readonly ws: WebSocket;
  readonly socket: Socket;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly remoteAddress: string | undefined;
  readonly isCodex: boolean;
  /** False for one whose key is not valid. */
  readonly isAuthenticated: boolean;
  readonly noticePrefix: string;
  readonly minutes: number;
  readonly queueWait: number; // seconds
  /** For the message that is on its way, and for those whose bodies nobody has read yet. */
  readonly memory: MemoryShare;
  readonly waiting: MemoryShare;
  /** Bytes of a message, and of all that wait. */
  readonly maxBytes: number;
}

/** One WebSocket: its lanes, what it can continue, and its life. */
export class ClientSocket implements TurnSocket {
  readonly isCodex: boolean;
  readonly noticePrefix: string;
  readonly #context: SocketContext;
  readonly #init: SocketInit;
  readonly #lanes: Lanes;
  /** The last response of each lane. */
  readonly #kept = new Map<string, Kept>();
  readonly #names = new Set<string>();
  readonly #turns = new Set<SocketTurn>();
  readonly #openedAt: number;
  readonly #life: SocketLife;
  /** Frames that are written in this turn of the event loop; each character is a byte. */
  #unsent = '';
  #isDraining = false;
  #refused = 0;

  constructor(context: SocketContext, init: SocketInit) {
    this.#context = context;
    this.#init = init;
    this.isCodex = init.isCodex;
    this.noticePrefix = init.noticePrefix;
    this.#openedAt = context.now();
    this.#life = new SocketLife(init.ws, init.socket, init.memory, () => context.now());
    this.#lanes = new Lanes(
      { ...mostRequests, wait: init.queueWait * 1000 },
      () => !this.isFull,
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
    // What the protocol does not allow; ws closes the connection with the code for it.
    ws.on('error', () => undefined);
    ws.once('close', () => {
      this.#leave();
      onClosed();
    });
    // Before ws reads them, and with them the end of a message.
    socket.prependListener('data', (chunk: Buffer) => this.#count(chunk.length));
    socket.on('drain', () => this.#resume());
    socket.once('end', () => this.#leave());
  }

  // For turns.

  get isFull(): boolean {
    return this.#init.ws.bufferedAmount + this.#unsent.length > bounds.slowReader;
  }

  send(payloads: readonly string[]): void {
    if (payloads.length === 0) return;
    // The events of a chunk come one by one: each write to the system costs as much as framing a hundred of them.
    if (this.#unsent === '') process.nextTick(() => this.#flush());
    this.#unsent += textFrames(payloads);
  }

  #flush(): void {
    const { ws, socket } = this.#init;
    if (ws.readyState === ws.OPEN && this.#unsent !== '') socket.write(this.#unsent, 'latin1');
    this.#unsent = '';
  }

  keep(turn: SocketTurn, id: string, items: readonly Buffer[]): void {
    const lane = laneOf(turn.frame);
    const { kept } = this.#context;
    const last = this.#kept.get(lane);
    const isOpen = this.#init.ws.readyState === this.#init.ws.OPEN;
    const next = isOpen ? kept.keep(turn.account, id, turn.prefix, items) : undefined;
    if (last !== undefined) kept.drop(last);
    if (next === undefined) this.#kept.delete(lane);
    else this.#kept.set(lane, next);
  }

  forget({ frame }: SocketTurn): void {
    const own = this.#kept.get(laneOf(frame));
    if (own === undefined || own.id !== frame.previousId) return;
    this.#kept.delete(laneOf(frame));
    this.#context.kept.drop(own);
  }

  rejectKey(): void {
    this.#close(1008, 'invalid API key');
  }

  // The life of the connection.

  /** Looks after the connection every few seconds. */
  sweep(limits: LifeLimits): void {
    const { ws, isAuthenticated, minutes } = this.#init;
    if (ws.readyState !== ws.OPEN) return;
    const end = this.#life.look(limits);
    if (!isAuthenticated && this.#age() > unauthenticatedTime) this.#turnAway();
    else if (end === 'slow') this.#close(1008, 'the message did not arrive in time');
    else if (end !== undefined) ws.terminate();
    else if (this.#age() > minutes * 60_000 + closeGrace && this.#lanes.isIdle) this.#close(1001, tooOld);
  }

  /** Closes once nothing runs. */
  drain(): void {
    this.#isDraining = true;
    this.#closeIfDone();
  }

  /** A client without a valid key has sent nothing so far: a request in its place is refused, recorded and counted. */
  #turnAway(): void {
    this.#create(readFrame(emptyRequest));
  }

  #count(bytes: number): void {
    const { memory, ws } = this.#init;
    if (ws.readyState !== ws.OPEN || this.#life.receive(bytes)) return;
    memory.refuse('body');
    this.#close(1013, 'too little memory');
    setImmediate(() => ws.terminate());
  }

  #close(code: number, reason: string): void {
    this.#flush();
    this.#init.ws.close(code, reason);
  }

  #closeIfDone(): void {
    if (this.#isDraining && this.#lanes.isIdle) this.#close(1012, 'the gateway is restarting');
  }

  #leave(): void {
    this.#lanes.close();
    for (const turn of this.#turns) turn.leave();
    for (const kept of this.#kept.values()) this.#context.kept.drop(kept);
    this.#kept.clear();
    this.#init.memory.release();
  }

  #resume(): void {
    if (this.isFull) return;
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
    let streamId: string | undefined;
    try {
      const frame = readFrame(data);
      streamId = namedLane(frame);
      this.#handle(frame);
    } catch (error) {
      if (!(error instanceof GatewayError))
        noteFailure(this.#context.conversations.serving.host.log, 'reading a message', error);
      const refusal = error instanceof GatewayError ? error : new GatewayError('internal_error', 'Internal error.');
      this.#refuse(refusal, streamId);
    }
  }

  #handle(frame: ClientFrame): void {
    if (frame.type === 'response.create') this.#create(frame);
    else if (frame.type === 'response.steer') this.#say(steerRefusal(frame));
    else if (frame.type === 'response.interrupt') this.#interrupt(frame);
    else refuseEvent(frame);
  }

  #create(event: ClientFrame): void {
    let frame: CreateFrame;
    try {
      frame = readCreate(event);
    } catch (error) {
      if (!(error instanceof InvalidStreamId)) throw error;
      this.#say(protocolError(protocolErrors.invalidStreamId, { isCodex: this.isCodex }));
      return;
    }
    const { streamId } = frame;
    const recipient = { streamId, isCodex: this.isCodex };
    if (this.#isDraining) {
      this.#say(protocolError(protocolErrors.restarting, recipient));
      return;
    }
    if (this.#age() > this.#init.minutes * 60_000) {
      this.#say(protocolError(protocolErrors.tooOld(this.#init.minutes), recipient));
      if (this.#lanes.isIdle) this.#close(1001, tooOld);
      return;
    }
    if (streamId !== undefined && !this.#names.has(streamId) && this.#names.size >= mostLanes) {
      this.#say(protocolError(protocolErrors.tooManyLanes, recipient));
      return;
    }
    if (streamId !== undefined) this.#names.add(streamId);
    const refusal = this.#wait(frame);
    if (refusal !== undefined) this.#refuse(refusal, streamId);
  }

  /** @returns why it does not wait: too much does already, or there is no memory for it */
  #wait(frame: CreateFrame): GatewayError | undefined {
    const { waiting, maxBytes } = this.#init;
    const { length } = frame.bytes;
    if (!this.#lanes.isIdle && waiting.bytes + length > maxBytes) return tooManyWaiting();
    if (!waiting.grow(length)) return tooMuch(waiting);
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
    if (this.#lanes.add({ lane: laneOf(frame), isCounted: frame.generates, start, refuse, release })) return undefined;
    release();
    return tooManyWaiting();
  }

  #age(): number {
    return this.#context.now() - this.#openedAt;
  }

  /**
   * Never rejects.
   *
   * @param waited ms for which it has waited for others of this socket
   * @param onRead called when it waits no longer: its body is read by the stages behind those that limit requests
   */
  async #run(frame: CreateFrame, waited: number, onRead: () => void): Promise<void> {
    const { conversations, endpoint, warmUp } = this.#context;
    const { headers, path, query, remoteAddress } = this.#init;
    const previous = this.#find(frame.previousId);
    if (!frame.generates && frame.previousId !== undefined && previous === undefined) {
      const recipient = { streamId: frame.streamId, isCodex: this.isCodex };
      this.#say(protocolError(protocolErrors.previousNotFound(frame.previousId), recipient));
      return;
    }
    const before = previous?.segments.map((segment) => segment.hold());
    const slotWait = Math.max(0, this.#init.queueWait * 1000 - waited);
    const turn = new SocketTurn(this, frame, before, slotWait);
    this.#turns.add(turn);
    this.#refused = 0;
    // No upstream gets the conversation of a request that is answered here.
    const items = frame.generates ? before : before?.slice(0, 0);
    const body = composeBody(
      frame,
      items?.map(({ bytes }) => bytes),
    );
    const size = body.reduce((sum, { length }) => sum + length, 0);
    await conversations.converse(
      {
        endpoint: frame.generates ? endpoint : warmUp,
        path,
        query,
        headers: headersOfTurn(headers, size),
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

  #find(id: string | undefined): Kept | undefined {
    if (id === undefined) return undefined;
    for (const kept of this.#kept.values()) {
      if (kept.id !== id || kept.isGone) continue;
      this.#context.kept.touch(kept);
      return kept;
    }
    return undefined;
  }

  #interrupt(frame: ClientFrame): void {
    const id = textOf(frame, 'response_id');
    for (const turn of this.#turns) if (turn.responseId === id && id !== undefined && turn.interrupt()) return;
    this.#refuse(
      new GatewayError('invalid_request', `Response with id '${(id ?? '').slice(0, 200)}' is not running.`, {
        param: 'response_id',
      }),
    );
  }

  #refuse(error: GatewayError, streamId?: string): void {
    this.#say(this.#write(error, streamId));
  }

  #write(error: GatewayError, streamId?: string): string {
    const { format } = this.#context.endpoint;
    const caller = { id: '', format, dialect: 'openai' } as const;
    return refusalFrame(error, caller, { streamId, isCodex: this.isCodex });
  }

  /** Answers a message that becomes no request. */
  #say(frame: string): void {
    this.send([bytesOf(frame)]);
    if (++this.#refused > mostRefused) this.#close(1008, 'too many messages that cannot be served');
  }
}

/** No name of a lane is empty. */
function laneOf({ streamId }: CreateFrame): string {
  return streamId ?? '';
}
