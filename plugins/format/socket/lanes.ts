/** A request that waits for its turn. */
export interface QueuedRequest {
  readonly lane: string;
  /** False for one that takes no slot of its account. */
  readonly takesSlot: boolean;
  /** Runs it, and resolves when it is over. Must not reject. */
  start(): Promise<void>;
}

/** The slots of an account that all of its sockets share, and whether this one may use them. */
export interface Slots {
  /** False while the client does not read what it has asked for: nothing starts until `look` is called. */
  mayStart(): boolean;
  hasRoom(): boolean;
  /** Calls back, once, when it may have room again. */
  whenRoom(look: () => void): void;
  taken(): void;
  given(): void;
}

export interface LaneLimits {
  readonly running: number; // requests of all lanes
  readonly waiting: number; // requests
  /** Ms for which a request waits for a slot of its account. It runs then all the same, and is refused as a POST is. */
  readonly patience: number;
}

interface Entry extends QueuedRequest {
  hasTimedOut: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** The order of the requests of one socket: those of a lane run one after the other, those of different lanes beside each other. */
export class Lanes {
  readonly #limits: LaneLimits;
  readonly #slots: Slots;
  /** In the order in which they came. */
  readonly #waiting: Entry[] = [];
  readonly #running = new Set<string>();
  #isClosed = false;

  constructor(limits: LaneLimits, slots: Slots) {
    this.#limits = limits;
    this.#slots = slots;
  }

  get isIdle(): boolean {
    return this.#running.size === 0 && this.#waiting.length === 0;
  }

  /** @returns false when too many wait */
  add(request: QueuedRequest): boolean {
    if (this.#waiting.length >= this.#limits.waiting) return false;
    this.#waiting.push({ ...request, start: () => request.start(), hasTimedOut: false, timer: undefined });
    this.look();
    return true;
  }

  /** Nothing that waits runs any more. */
  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#waiting) clearTimeout(timer);
    this.#waiting.length = 0;
  }

  /** Starts what may run. */
  readonly look = (): void => {
    if (this.#isClosed || !this.#slots.mayStart()) return;
    const busy = new Set(this.#running);
    for (const entry of this.#waiting.slice()) {
      if (this.#running.size >= this.#limits.running) return;
      if (busy.has(entry.lane)) continue;
      busy.add(entry.lane);
      if (!entry.takesSlot || entry.hasTimedOut || this.#slots.hasRoom()) this.#start(entry);
      else this.#await(entry);
    }
  };

  #await(entry: Entry): void {
    this.#slots.whenRoom(this.look);
    entry.timer ??= setTimeout(() => {
      entry.hasTimedOut = true;
      this.look();
    }, this.#limits.patience);
  }

  #start(entry: Entry): void {
    clearTimeout(entry.timer);
    this.#waiting.splice(this.#waiting.indexOf(entry), 1);
    this.#running.add(entry.lane);
    if (entry.takesSlot) this.#slots.taken();
    const end = () => {
      this.#running.delete(entry.lane);
      if (entry.takesSlot) this.#slots.given();
      this.look();
    };
    entry.start().then(end, end);
  }
}
