import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from '../logger.ts';
import { Throttle } from '../timing/throttle.ts';
import { footprint, type MemoryLevel, type ProcessMemory } from './budget.ts';
import { base, type MemoryLimits } from './limits.ts';

/** Ms between two readings of the process's figures, and between two garbage collections that they cause. */
const readEvery = 100;
const collectEvery = 1_000;
/** Share of a limit at which a level begins. From 80 % of its heap on, V8 aborts if collections free almost nothing. */
const marks = { large: 0.75, all: { process: 0.95, heap: 0.85 } } as const;

/** Quiet: below this share of the event loop's time for this many ms. */
const quiet = { period: 10_000, share: 0.05 };
/**
 * How often a process that has become quiet collects its garbage: V8 sees at the second time that little is allocated. That one also gives
 * back the pages between the objects.
 */
const quietCollections = 2;
/** Bytes above the idle level that justify a collection, which discards compiled code too. */
const worthCollecting = 64 * 1024 * 1024;

/** Bytes: resident, and of V8's old generation. */
interface MemoryFigures {
  readonly process: number;
  readonly heap: number;
}

const readFigures = (): MemoryFigures => ({
  process: process.memoryUsage.rss(),
  heap: getHeapStatistics().used_heap_size - readYoung(),
});

function readYoung(): number {
  return getHeapSpaceStatistics().reduce(
    (sum, { space_name: name, space_used_size: used }) => (name.startsWith('new_') ? sum + used : sum),
    0,
  );
}

interface MemoryWatchOptions {
  readonly limits: MemoryLimits;
  readonly budget: ProcessMemory;
  readonly log: Logger;
  readonly read?: () => MemoryFigures;
  /** @param isThorough also compacts and returns the pages, in several collections */
  readonly collect?: (isThorough: boolean) => void;
  readonly now?: () => number; // ms of a clock that is never set
  readonly used?: () => number;
}

/**
 * Compares the process's memory use with its limits, because reservations are estimates. Near a limit it gives the caches
 * back and collects garbage, and if that is not enough sets the level of the budget.
 */
export class MemoryWatch implements Disposable {
  readonly #options: Required<MemoryWatchOptions>;
  readonly #timer: NodeJS.Timeout;
  readonly #collecting: Throttle;
  #periodBegan: number;
  #toCollect = quietCollections;
  /** Lowest resident size in quiet moments since the last collection. */
  #idleBytes: number | undefined;

  constructor(options: MemoryWatchOptions) {
    const defaults = {
      read: readFigures,
      collect: createCollector(),
      now: () => performance.now(),
      used: createMeter(),
    };
    this.#options = { ...defaults, ...options };
    this.#periodBegan = this.#options.now();
    this.#collecting = new Throttle(collectEvery, this.#options.now);
    this.#timer = setInterval(() => {
      this.look();
      this.rest();
    }, readEvery).unref();
    options.budget.findRoom = () => this.look(true);
  }

  /** Never throws. @param isNeeded a large body does not fit. @returns true when garbage has been collected */
  look(isNeeded = false): boolean {
    const { budget, collect, read } = this.#options;
    let used = read();
    let level = this.#levelOf(used);
    const isScarce = level !== 'normal';
    if (isScarce || isNeeded) budget.reclaim(budget.kept);
    const isCollected = (isScarce || isNeeded) && this.#collecting.pass();
    if (isCollected) {
      collect(false);
      used = read();
      level = this.#levelOf(used);
    } else if (isScarce && budget.level !== 'all') level = 'large'; // It may be garbage, which is no reason to refuse small bodies.
    budget.room = this.#remainingRoom(used, isCollected);
    if (level !== budget.level) {
      budget.level = level;
      this.#report(level, used);
    }
    return isCollected;
  }

  /**
   * Collects garbage once the process is quiet, after a start, and after a load that has left much of it. V8 would keep what it has not
   * needed since, and a young generation of 64 MB, until there is something to allocate again: a third of what an idle gateway uses.
   */
  rest(): void {
    const { now, used, collect, read } = this.#options;
    if (now() - this.#periodBegan < quiet.period) return;
    this.#periodBegan = now();
    if (used() >= quiet.share) {
      if (this.#idleBytes === undefined) this.#toCollect = quietCollections;
      return;
    }
    const { process: resident } = read();
    if (this.#toCollect === 0 && resident - (this.#idleBytes ?? resident) >= worthCollecting)
      this.#toCollect = quietCollections;
    if (this.#toCollect > 0) {
      this.#toCollect--;
      this.#idleBytes = undefined;
      collect(this.#toCollect === 0);
    } else this.#idleBytes = Math.min(resident, this.#idleBytes ?? resident);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #levelOf(used: MemoryFigures): MemoryLevel {
    const { limits } = this.#options;
    const [ofProcess, ofHeap] = [used.process / limits.process, used.heap / limits.heap];
    if (Math.max(ofProcess, ofHeap) < marks.large) return 'normal';
    return ofProcess < marks.all.process && ofHeap < marks.all.heap ? 'large' : 'all';
  }

  /**
   * Of what is reserved, as little as possible is in the figures yet: the bytes themselves. Without garbage, it is all that
   * exceeds what the gateway needs itself. What there was room for before is still there when a body that is being parsed
   * takes what it has reserved.
   */
  #remainingRoom(used: MemoryFigures, isCollected: boolean): number {
    const { limits, budget } = this.#options;
    const left = Math.min(limits.process * marks.large - used.process, limits.heap * marks.large - used.heap);
    const taken = Math.max(budget.reserved / footprint.event, isCollected ? used.process - base.process : 0);
    return Math.min(left, Math.max(budget.room, left - Math.max(0, budget.reserved - taken)));
  }

  #report(level: MemoryLevel, used: MemoryFigures): void {
    const { limits, log } = this.#options;
    const state = `${megabytes(used.process)} of ${megabytes(limits.process)}, and ${megabytes(used.heap)} of ${megabytes(limits.heap)} of the heap`;
    if (level === 'normal') log.info(`memory is sufficient again: ${state}`);
    else log.warn(`memory is scarce: ${state}; ${actions[level]}`);
  }
}

const actions = {
  large: 'the caches are empty, and large bodies are rejected',
  all: 'the caches are empty, and new requests are rejected',
} as const;

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}

function createMeter(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** Collects all garbage in about 50 ms (thoroughly: 150 ms); V8 and the allocator then return unused pages. */
function createCollector(): (isThorough: boolean) => void {
  let collect: NodeJS.GCFunction | undefined;
  return (isThorough) => {
    collect ??= exposeCollector();
    collect({ type: 'major', flavor: isThorough ? 'last-resort' : 'regular' });
  };
}

function exposeCollector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc');
  try {
    return runInNewContext('gc') as NodeJS.GCFunction;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
