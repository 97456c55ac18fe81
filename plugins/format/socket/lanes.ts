import { GatewayError } from '#core/platform/errors/table.ts';

/** Maximum number of running and of waiting requests of one socket. */
export const mostRequests = { running: 16, waiting: 64 } as const;

interface QueuedRequest {
  readonly lane: string;
  /** False if the request runs regardless of the limit. */
  readonly isCounted: boolean;
  /** Runs the request and resolves when it ends. Must not reject. @param waited ms since it became the first of its lane */
  start(waited: number): Promise<void>;
  /** Called if the limit was reached for the request's whole waiting time. */
  refuse(): void;
  /** Called if the socket closed before the request ran. */
  release(): void;
}

interface LaneLimits {
  readonly running: number; // requests of all lanes
  readonly waiting: number; // requests
  readonly wait: number; // ms that the first request of a lane waits while the limit of running ones is reached
}

/** The order of the requests of one socket: requests of a lane run one after the other, different lanes run concurrently. */
export class Lanes {
  readonly #limits: LaneLimits;
  readonly #mayStart: () => boolean;
  readonly #onIdle: () => void;
  readonly #now: () => number;
  readonly #waiting: QueuedRequest[] = [];
  readonly #busy = new Set<string>();
  /** Time at which each request became the first of its lane. */
  readonly #firstSince = new Map<QueuedRequest, number>();
  #timer: NodeJS.Timeout | undefined;
  #running = 0;
  #isClosed = false;

  /**
   * @param mayStart false while the client does not read its responses: nothing starts until `look` is called
   * @param onIdle called when the last request has ended
   * @param now ms of a monotonic clock
   */
  constructor(limits: LaneLimits, mayStart: () => boolean, onIdle: () => void, now: () => number) {
    this.#limits = limits;
    this.#mayStart = mayStart;
    this.#onIdle = onIdle;
    this.#now = now;
  }

  get isIdle(): boolean {
    return this.#busy.size === 0 && this.#waiting.length === 0;
  }

  /** @returns false if too many requests wait or the socket has closed */
  add(request: QueuedRequest): boolean {
    if (this.#isClosed || this.#waiting.length >= this.#limits.waiting) return false;
    this.#waiting.push(request);
    this.look();
    return true;
  }

  /** Stops all waiting requests from running. */
  close(): void {
    this.#isClosed = true;
    for (const request of this.#waiting.splice(0)) request.release();
    clearTimeout(this.#timer);
  }

  /** Starts the requests that may run, and rejects requests that have waited too long. */
  look(): void {
    if (this.#isClosed || !this.#mayStart()) return;
    const now = this.#now();
    const busy = new Set(this.#busy);
    for (const request of this.#waiting.slice()) {
      if (busy.has(request.lane)) continue;
      const since = this.#firstSince.get(request) ?? now;
      const mayRun = !request.isCounted || this.#running < this.#limits.running;
      if (mayRun) this.#start(request, now - since);
      else if (now - since < this.#limits.wait) this.#firstSince.set(request, since);
      else {
        this.#remove(request);
        request.refuse();
        // The next request of the lane is now the first.
        continue;
      }
      busy.add(request.lane);
    }
    this.#setTimer(now);
  }

  #setTimer(now: number): void {
    clearTimeout(this.#timer);
    if (this.#firstSince.size === 0) return;
    const next = Math.min(...this.#firstSince.values()) + this.#limits.wait;
    this.#timer = setTimeout(() => this.look(), Math.ceil(next - now)).unref();
  }

  #remove(request: QueuedRequest): void {
    this.#waiting.splice(this.#waiting.indexOf(request), 1);
    this.#firstSince.delete(request);
  }

  #start(request: QueuedRequest, waited: number): void {
    this.#remove(request);
    this.#busy.add(request.lane);
    if (request.isCounted) this.#running++;
    const end = () => {
      this.#busy.delete(request.lane);
      if (request.isCounted) this.#running--;
      this.look();
      if (this.isIdle) this.#onIdle();
    };
    request.start(waited).then(end, end);
  }
}

export function tooManyWaiting(): GatewayError {
  const message = `Too many requests wait on this WebSocket: ${mostRequests.waiting}, or too many bytes.`;
  return new GatewayError('rate_limited', message, { retryAfter: 1 });
}

export function tooManyRunning(): GatewayError {
  const message = `${mostRequests.running} requests are in flight on this WebSocket, as many as may be. Wait for one to finish.`;
  return new GatewayError('rate_limited', message, { retryAfter: 1 });
}
