import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { countAcceptedBytes } from '#core/gateway/http/stalled-client.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';

const pingIntervalMs = 25_000; // proxies cut idle connections after 60 s
const maxSilenceMs = 40_000; // how long a ping may be unanswered
const maxControlFrames = 500; // between two checks; one more disconnects the client
const uncountedBytes = 65_536; // bytes of an unfinished message that are not counted
const controlHeaderBytes = 6; // header and mask of a client's control frame

export interface LifeLimits {
  readonly writeTimeoutSeconds: number; // during which the client may accept no bytes
  readonly bodyTimeoutSeconds: number; // for a message, in addition to the time for its size
  readonly minBytesPerSecond: number;
}

type EndReason = 'silent' | 'stuck' | 'slow' | 'flooding';

/** Checks whether a WebSocket's client is alive, reads, and finishes the messages that it begins. */
export class SocketLife {
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #memory: MemoryShare;
  readonly #now: () => number;
  #pingedAt: number;
  #silentSince: number | undefined; // when the oldest unanswered ping was sent
  #controlFrames = 0;
  #messageBytes = 0; // bytes of the message that is arriving
  #messageSince = 0; // when its first byte arrived
  #takenBytes: number | undefined; // bytes that the system had accepted at the last check
  #stuckSince: number | undefined; // time since which the system has accepted no bytes

  /**
   * @param memory memory for the message that is arriving
   * @param now returns ms on a monotonic clock
   */
  constructor(ws: WebSocket, socket: Socket, memory: MemoryShare, now: () => number) {
    this.#ws = ws;
    this.#socket = socket;
    this.#memory = memory;
    this.#now = now;
    this.#pingedAt = now();
  }

  /** Returns false if there is no memory for the message. */
  countBytes(bytes: number): boolean {
    // A client cannot answer a ping in the middle of a message.
    this.#silentSince = undefined;
    if (this.#messageBytes === 0) this.#messageSince = this.#now();
    this.#messageBytes += bytes;
    const needed = this.#messageBytes - uncountedBytes - this.#memory.bytes;
    return needed <= 0 || this.#memory.grow(needed);
  }

  endMessage(): void {
    this.#silentSince = undefined;
    this.#messageBytes = 0;
    this.#memory.shrink(this.#memory.bytes);
  }

  /** Subtracts a ping or pong, which is not part of a message. */
  countControlFrame(payloadBytes: number): void {
    this.#silentSince = undefined;
    this.#controlFrames++;
    this.#messageBytes = Math.max(0, this.#messageBytes - controlHeaderBytes - payloadBytes);
  }

  /** Sends a ping if one is due. Called every few seconds. Returns undefined if the connection is healthy. */
  check({ writeTimeoutSeconds, bodyTimeoutSeconds, minBytesPerSecond }: LifeLimits): EndReason | undefined {
    const now = this.#now();
    const controlFrames = this.#controlFrames;
    this.#controlFrames = 0;
    if (controlFrames > maxControlFrames) return 'flooding';
    if (now - this.#sampleProgress(now) > writeTimeoutSeconds * 1000) return 'stuck';
    if (this.#silentSince !== undefined && now - this.#silentSince > maxSilenceMs) return 'silent';
    const maxMessageMs = (bodyTimeoutSeconds + this.#messageBytes / minBytesPerSecond) * 1000;
    if (this.#messageBytes > 0 && now - this.#messageSince > maxMessageMs) return 'slow';
    this.#ping(now);
    return undefined;
  }

  #ping(now: number): void {
    // Unsent bytes show whether the client reads, and a ping queued after them would be answered late.
    if (now - this.#pingedAt < pingIntervalMs || this.#ws.bufferedAmount > 0) return;
    this.#pingedAt = now;
    this.#silentSince ??= now;
    this.#ws.ping();
  }

  /** Returns the time when the system last accepted bytes; the current time if no bytes are waiting. */
  #sampleProgress(now: number): number {
    const takenBytes = countAcceptedBytes(this.#socket);
    if (takenBytes === undefined) this.#stuckSince = undefined;
    else if (takenBytes !== this.#takenBytes || this.#stuckSince === undefined) this.#stuckSince = now;
    this.#takenBytes = takenBytes;
    return this.#stuckSince ?? now;
  }
}
