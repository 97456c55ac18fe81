/** A request that waits for its turn. */
export interface QueuedRequest {
  readonly lane: string;
  /** False for one that runs however many others do. */
  readonly isCounted: boolean;
  /** Runs it, and resolves when it is over. Must not reject. */
  start(): Promise<void>;
}

export interface LaneLimits {
  readonly running: number; // requests of all lanes
  readonly waiting: number; // requests
}

/** The order of the requests of one socket: those of a lane run one after the other, those of different lanes beside each other. */
export class Lanes {
  readonly #limits: LaneLimits;
  readonly #mayStart: () => boolean;
  readonly #onIdle: () => void;
  /** In the order in which they came. */
  readonly #waiting: QueuedRequest[] = [];
  readonly #busy = new Set<string>();
  #running = 0;
  #isClosed = false;

  /**
   * @param mayStart false while the client does not read what it has asked for: nothing starts until `look` is called
   * @param onIdle called when the last request has ended
   */
  constructor(limits: LaneLimits, mayStart: () => boolean, onIdle: () => void) {
    this.#limits = limits;
    this.#mayStart = mayStart;
    this.#onIdle = onIdle;
  }

  get isIdle(): boolean {
    return this.#busy.size === 0 && this.#waiting.length === 0;
  }

  /** @returns false when too many wait */
  add(request: QueuedRequest): boolean {
    if (this.#waiting.length >= this.#limits.waiting) return false;
    this.#waiting.push(request);
    this.look();
    return true;
  }

  /** Nothing that waits runs any more. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
  }

  /** Starts what may run. */
  look(): void {
    if (this.#isClosed || !this.#mayStart()) return;
    const busy = new Set(this.#busy);
    for (const request of this.#waiting.slice()) {
      if (busy.has(request.lane)) continue;
      busy.add(request.lane);
      if (!request.isCounted || this.#running < this.#limits.running) this.#start(request);
    }
  }

  #start(request: QueuedRequest): void {
    this.#waiting.splice(this.#waiting.indexOf(request), 1);
    this.#busy.add(request.lane);
    if (request.isCounted) this.#running++;
    const end = () => {
      this.#busy.delete(request.lane);
      if (request.isCounted) this.#running--;
      this.look();
      if (this.isIdle) this.#onIdle();
    };
    request.start().then(end, end);
  }
}
