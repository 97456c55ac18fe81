import { GatewayError } from '#core/platform/errors/table.ts';

/** Per socket. */
export const maxRequests = { running: 16, waiting: 64 } as const;

interface QueuedRequest {
  readonly lane: string;
  readonly isLimited: boolean;
  /** Must not reject. `waitedMs`: time since the request became the first in its lane. */
  start(waitedMs: number): Promise<void>;
  refuse(): void; // called if the limit was reached during the request's entire maximum wait
  release(): void; // called if the socket closed before the request could run
}

interface LaneLimits {
  readonly running: number; // requests in all lanes
  readonly waiting: number; // requests
  readonly maxWaitMs: number; // how long the first request in a lane waits if the limit of running requests is reached
}

/** Orders a socket's requests: those in the same lane run one after the other, those in different lanes concurrently. */
export class Lanes {
  readonly #limits: LaneLimits;
  readonly #mayStart: () => boolean;
  readonly #onIdle: () => void;
  readonly #now: () => number;
  readonly #queue: QueuedRequest[] = [];
  readonly #busyLanes = new Set<string>();
  /** When each request became the first in its lane. */
  readonly #firstSince = new Map<QueuedRequest, number>();
  #timer: NodeJS.Timeout | undefined;
  #runningCount = 0;
  #isClosed = false;

  /**
   * @param mayStart returns false if the client is not reading its responses; no request then starts until `startRequests` is called
   * @param onIdle called when the last request has ended
   * @param now ms on a monotonic clock
   */
  constructor(limits: LaneLimits, mayStart: () => boolean, onIdle: () => void, now: () => number) {
    this.#limits = limits;
    this.#mayStart = mayStart;
    this.#onIdle = onIdle;
    this.#now = now;
  }

  get isIdle(): boolean {
    return this.#busyLanes.size === 0 && this.#queue.length === 0;
  }

  /** Returns false if too many requests wait or the socket has closed. */
  add(request: QueuedRequest): boolean {
    if (this.#isClosed || this.#queue.length >= this.#limits.waiting) return false;
    this.#queue.push(request);
    this.startRequests();
    return true;
  }

  close(): void {
    this.#isClosed = true;
    for (const request of this.#queue.splice(0)) request.release();
    clearTimeout(this.#timer);
  }

  /** Starts the requests that may run, and rejects those that have waited too long. */
  startRequests(): void {
    if (this.#isClosed || !this.#mayStart()) return;
    const now = this.#now();
    const busyLanes = new Set(this.#busyLanes);
    for (const request of this.#queue.slice()) {
      if (busyLanes.has(request.lane)) continue;
      const firstSince = this.#firstSince.get(request) ?? now;
      const canRun = !request.isLimited || this.#runningCount < this.#limits.running;
      if (canRun) this.#start(request, now - firstSince);
      else if (now - firstSince < this.#limits.maxWaitMs) this.#firstSince.set(request, firstSince);
      else {
        this.#remove(request);
        request.refuse();
        // The lane's next request is now the first.
        continue;
      }
      busyLanes.add(request.lane);
    }
    this.#setTimer(now);
  }

  #setTimer(now: number): void {
    clearTimeout(this.#timer);
    if (this.#firstSince.size === 0) return;
    const deadline = Math.min(...this.#firstSince.values()) + this.#limits.maxWaitMs;
    this.#timer = setTimeout(() => this.startRequests(), Math.ceil(deadline - now)).unref();
  }

  #remove(request: QueuedRequest): void {
    this.#queue.splice(this.#queue.indexOf(request), 1);
    this.#firstSince.delete(request);
  }

  #start(request: QueuedRequest, waitedMs: number): void {
    this.#remove(request);
    this.#busyLanes.add(request.lane);
    if (request.isLimited) this.#runningCount++;
    const end = () => {
      this.#busyLanes.delete(request.lane);
      if (request.isLimited) this.#runningCount--;
      this.startRequests();
      if (this.isIdle) this.#onIdle();
    };
    request.start(waitedMs).then(end, end);
  }
}

export function createTooManyWaitingError(): GatewayError {
  const message = `Too many requests wait on this WebSocket: ${maxRequests.waiting}, or too many bytes.`;
  return new GatewayError('rate_limited', message, { retryAfter: 1 });
}

export function createTooManyRunningError(): GatewayError {
  const message = `${maxRequests.running} requests are in flight on this WebSocket, which is the maximum. Wait for one to finish.`;
  return new GatewayError('rate_limited', message, { retryAfter: 1 });
}
