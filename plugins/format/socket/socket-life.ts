import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import { countAcceptedBytes } from '#core/gateway/http/stalled-client.ts';

const pingEvery = 25_000; // ms between pings: proxies cut idle connections after 60 s
const longestSilence = 40_000; // ms for which a ping may be unanswered
/** Control frames between two checks after which a client is disconnected. */
const mostControls = 500;
const smallMessage = 65_536; // bytes of an unfinished message that are not counted
const controlHead = 6; // bytes of a client's control frame before its payload: head and mask

export interface LifeLimits {
  readonly writeTimeout: number; // seconds without a byte taken by the client
  readonly bodyTimeout: number; // seconds for a message, on top of the time for its size
  readonly minRate: number; // bytes per second
}

/** Reason for ending a connection. */
type EndOfLife = 'silent' | 'stuck' | 'slow' | 'flooding';

/** Watches the connection of a WebSocket: whether the client is alive, reads, and finishes the messages that it begins. */
export class SocketLife {
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #memory: MemoryShare;
  readonly #now: () => number;
  #pingedAt: number;
  /** Time since which a ping has been unanswered. */
  #silentSince: number | undefined;
  #controls = 0;
  /** Bytes of the arriving message, and the time at which it began. */
  #incoming = 0;
  #incomingSince = 0;
  #taken: number | undefined; // bytes that the system had taken at the last check
  #stuckSince: number | undefined; // time since which the system has taken no more bytes

  /** @param memory memory for the arriving message @param now ms, monotonic */
  constructor(ws: WebSocket, socket: Socket, memory: MemoryShare, now: () => number) {
    this.#ws = ws;
    this.#socket = socket;
    this.#memory = memory;
    this.#now = now;
    this.#pingedAt = now();
  }

  /** Counts arrived bytes. @returns false if there is no memory for their message */
  receive(bytes: number): boolean {
    // A client answers no ping in the middle of a message.
    this.#silentSince = undefined;
    if (this.#incoming === 0) this.#incomingSince = this.#now();
    this.#incoming += bytes;
    const needed = this.#incoming - smallMessage - this.#memory.bytes;
    return needed <= 0 || this.#memory.grow(needed);
  }

  /** Ends the arriving message, which is complete. */
  endMessage(): void {
    this.#silentSince = undefined;
    this.#incoming = 0;
    this.#memory.shrink(this.#memory.bytes);
  }

  /** Counts a ping or a pong, which is not part of a message. @param payload bytes */
  control(payload: number): void {
    this.#silentSince = undefined;
    this.#controls++;
    this.#incoming = Math.max(0, this.#incoming - controlHead - payload);
  }

  /** Checks the connection every few seconds and sends a ping if due. @returns the reason to end the connection */
  look({ writeTimeout, bodyTimeout, minRate }: LifeLimits): EndOfLife | undefined {
    const now = this.#now();
    const controls = this.#controls;
    this.#controls = 0;
    if (controls > mostControls) return 'flooding';
    if (now - this.#stuckUntil(now) > writeTimeout * 1000) return 'stuck';
    if (this.#silentSince !== undefined && now - this.#silentSince > longestSilence) return 'silent';
    const longest = (bodyTimeout + this.#incoming / minRate) * 1000;
    if (this.#incoming > 0 && now - this.#incomingSince > longest) return 'slow';
    this.#ping(now);
    return undefined;
  }

  #ping(now: number): void {
    // Unsent bytes already show whether the client reads, and a ping queued after them is answered late.
    if (now - this.#pingedAt < pingEvery || this.#ws.bufferedAmount > 0) return;
    this.#pingedAt = now;
    this.#silentSince ??= now;
    this.#ws.ping();
  }

  /** The last time at which the system took bytes for the client; now if no bytes wait. */
  #stuckUntil(now: number): number {
    const taken = countAcceptedBytes(this.#socket);
    if (taken === undefined) this.#stuckSince = undefined;
    else if (taken !== this.#taken || this.#stuckSince === undefined) this.#stuckSince = now;
    this.#taken = taken;
    return this.#stuckSince ?? now;
  }
}
