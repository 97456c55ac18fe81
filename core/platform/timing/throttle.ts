import { bounds } from '../bounds.ts';

/** Limits an event, such as a log line about a persistent failure, to once per interval. */
export class Throttle {
  readonly #intervalMs: number;
  readonly #now: () => number;
  #readyAt = Number.NEGATIVE_INFINITY;

  /** @param now monotonic clock in ms, replaced in tests */
  constructor(intervalMs: number, now: () => number = () => performance.now()) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Returns true and starts an interval, unless the previous interval is still running. */
  tryPass(): boolean {
    const now = this.#now();
    if (now < this.#readyAt) return false;
    this.#readyAt = now + this.#intervalMs;
    return true;
  }

  reset(): void {
    this.#readyAt = Number.NEGATIVE_INFINITY;
  }
}

/** Allows one log line of each kind per interval, and counts the suppressed ones. */
export class LineThrottle {
  readonly #intervalMs: number;
  readonly #kinds = new Map<string, { readonly throttle: Throttle; suppressed: number }>();

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /**
   * @param error distinguishes lines about the same topic by the error's stack, not its message
   * @returns suffix of the line, possibly empty; undefined if the line must not be written
   */
  admit(topic: string, error?: unknown): string | undefined {
    const kind = error instanceof Error ? `${topic} ${readThrowSite(error)}` : topic;
    const entry = this.#kinds.get(kind) ?? this.#add(kind);
    if (!entry.throttle.tryPass()) {
      entry.suppressed++;
      return undefined;
    }
    const suffix = entry.suppressed === 0 ? '' : ` (${entry.suppressed} more times since the last line)`;
    entry.suppressed = 0;
    return suffix;
  }

  /** If there are too many kinds, forgets the others, whose next lines are written without the number of suppressed lines. */
  #add(kind: string) {
    if (this.#kinds.size >= bounds.lineKinds) this.#kinds.clear();
    const entry = { throttle: new Throttle(this.#intervalMs), suppressed: 0 };
    this.#kinds.set(kind, entry);
    return entry;
  }
}

function readThrowSite({ name, stack = '' }: Error): string {
  return /^ +at .*/m.exec(stack)?.[0] ?? name;
}
