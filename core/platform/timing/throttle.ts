import { bounds } from '../bounds.ts';

/** Limits an event, such as a log line about a lasting failure, to once per interval. */
export class Throttle {
  readonly #interval: number; // ms
  readonly #now: () => number;
  #readyAt = Number.NEGATIVE_INFINITY;

  /** @param now monotonic clock in ms; tests pass their own */
  constructor(interval: number, now: () => number = () => performance.now()) {
    this.#interval = interval;
    this.#now = now;
  }

  /** True if the interval has passed since the last `true`; a new interval then begins. */
  pass(): boolean {
    const now = this.#now();
    if (now < this.#readyAt) return false;
    this.#readyAt = now + this.#interval;
    return true;
  }

  /** Makes the next `pass` return true. */
  reset(): void {
    this.#readyAt = Number.NEGATIVE_INFINITY;
  }
}

/** Allows one log line of each kind per interval, and counts the others. */
export class LineThrottle {
  readonly #interval: number; // ms
  readonly #kinds = new Map<string, { readonly lines: Throttle; held: number }>();

  constructor(interval: number) {
    this.#interval = interval;
  }

  /**
   * @param error distinguishes lines about the same work by the place where the error was thrown, ignoring messages
   * @returns suffix of the line, possibly empty; undefined if the line must not be written
   */
  pass(work: string, error?: unknown): string | undefined {
    const kind = error instanceof Error ? `${work} ${placeOf(error)}` : work;
    const known = this.#kinds.get(kind) ?? this.#add(kind);
    if (!known.lines.pass()) {
      known.held++;
      return undefined;
    }
    const more = known.held === 0 ? '' : ` (${known.held} more times since the last line)`;
    known.held = 0;
    return more;
  }

  /** Above the limit, all kinds are forgotten: their next lines are written at once, and the held lines are not counted. */
  #add(kind: string) {
    if (this.#kinds.size >= bounds.lineKinds) this.#kinds.clear();
    const added = { lines: new Throttle(this.#interval), held: 0 };
    this.#kinds.set(kind, added);
    return added;
  }
}

function placeOf({ name, stack = '' }: Error): string {
  return /^ +at .*/m.exec(stack)?.[0] ?? name;
}
