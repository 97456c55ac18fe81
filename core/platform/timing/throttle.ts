import { bounds } from '../bounds.ts';

/** Lets something happen at most once in an interval, such as a log line about a failure that lasts. */
export class Throttle {
  readonly #interval: number; // ms
  readonly #now: () => number;
  #readyAt = Number.NEGATIVE_INFINITY;

  /** @param now ms that never go back; tests give their own */
  constructor(interval: number, now: () => number = () => performance.now()) {
    this.#interval = interval;
    this.#now = now;
  }

  /** True when the interval has passed since it was last true; the next one begins now. */
  pass(): boolean {
    const now = this.#now();
    if (now < this.#readyAt) return false;
    this.#readyAt = now + this.#interval;
    return true;
  }

  /** The next `pass` is true. */
  reset(): void {
    this.#readyAt = Number.NEGATIVE_INFINITY;
  }
}

/** Lets one line of each kind into the log in an interval, and counts the others. */
export class LineThrottle {
  readonly #interval: number; // ms
  readonly #kinds = new Map<string, { readonly lines: Throttle; held: number }>();

  constructor(interval: number) {
    this.#interval = interval;
  }

  /**
   * @param error distinguishes lines about the same work by where their errors were thrown, ignoring messages
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

  /** Over the limit, all kinds are forgotten: their next lines are written at once, and the held lines are not counted. */
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
