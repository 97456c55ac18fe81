/**
 * A clock that jumps from timer to timer. While it is installed, it replaces this process's timers, `performance.now` and `Date.now`, so
 * product code runs unchanged. Before the clock jumps, all promises that a timer has settled run to completion.
 */

const realImmediate = setImmediate;
const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };

type Callback = (...values: unknown[]) => void;

interface TimerOptions {
  readonly every?: number | undefined; // repeat interval, ms
  readonly ready?: Promise<unknown> | undefined;
}

class Timer {
  at: number;
  readonly order: number;
  readonly run: () => void;
  readonly every: number | undefined;
  readonly ready: Promise<unknown> | undefined;
  isCleared = false;

  constructor(at: number, order: number, run: () => void, { every, ready }: TimerOptions) {
    this.at = at;
    this.order = order;
    this.run = run;
    this.every = every;
    this.ready = ready;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

export class Clock {
  now = 0; // ms since the simulation began
  readonly #heap: Timer[] = [];
  readonly #epoch: number;
  #order = 0;

  /** @param epoch wall-clock time of the beginning, epoch ms */
  constructor(epoch = Date.UTC(2026, 0, 1)) {
    this.#epoch = epoch;
  }

  /** Does not call `run` before `ready` has settled; until then, the clock stands still. */
  after(milliseconds: number, run: () => void, { every, ready }: TimerOptions = {}): Timer {
    const timer = new Timer(this.now + milliseconds, this.#order++, run, { every, ready });
    this.#push(timer);
    return timer;
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.after(milliseconds, resolve));
  }

  async runUntil(end: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#pop();
      if (next.isCleared) continue;
      this.now = next.at;
      // Awaited even if it is not needed, so that nothing else is running and every simulation runs the same way.
      await next.ready?.catch(() => undefined);
      next.run();
      if (next.every !== undefined) {
        next.at += next.every;
        this.#push(next);
      }
      await new Promise<void>((resolve) => void realImmediate(resolve));
    }
    this.now = end;
  }

  install(random: () => number): Disposable {
    const realRandom = Math.random;
    const realDate = Date.now;
    const start = (callback: Callback, milliseconds = 0, ...values: unknown[]) =>
      this.after(Math.max(1, milliseconds), () => callback(...values));
    const repeat = (callback: Callback, milliseconds = 0, ...values: unknown[]) => {
      const every = Math.max(1, milliseconds);
      return this.after(every, () => callback(...values), { every });
    };
    Object.assign(globalThis, {
      setTimeout: start,
      setInterval: repeat,
      setImmediate: (callback: Callback, ...values: unknown[]) => this.after(0, () => callback(...values)),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    });
    Math.random = random;
    Date.now = () => this.#epoch + this.now;
    performance.now = () => this.now;
    return {
      [Symbol.dispose]: () => {
        Object.assign(globalThis, real);
        Math.random = realRandom;
        Date.now = realDate;
        // Removing the own property uncovers the prototype's.
        delete (performance as Partial<Performance>).now;
      },
    };
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let index = heap.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (isBefore(heap[parent] as Timer, timer)) break;
      heap[index] = heap[parent] as Timer;
      index = parent;
    }
    heap[index] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Timer;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Timer)) child++;
      if (isBefore(last, heap[child] as Timer)) break;
      heap[index] = heap[child] as Timer;
      index = child;
    }
    heap[index] = last;
  }
}

function clear(timer: unknown): void {
  if (timer instanceof Timer) timer.isCleared = true;
  else real.clearTimeout(timer as NodeJS.Timeout);
}

function isBefore(one: Timer, other: Timer): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Always the same numbers for a given seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
