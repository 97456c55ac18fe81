import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from '../logger.ts';
import { Throttle } from '../timing/throttle.ts';
import { footprint, type MemoryLevel, type ProcessMemory } from './budget.ts';
import { base as idleFootprint, type MemoryLimits } from './limits.ts';

const readIntervalMs = 100;
const collectIntervalMs = 1_000;
/** Share of a limit at which a level starts. From 80 % of its heap limit on, V8 aborts if collections free almost nothing. */
const levelShares = { large: 0.75, all: { process: 0.95, heap: 0.85 } } as const;

/** The process is quiet if event loop utilization stays below `share` for `period` ms. */
const quiet = { period: 10_000, share: 0.05 };
/**
 * Collections once the process is quiet. V8 notices the low allocation rate only on the second, which also returns fragmented pages to the
 * system.
 */
const quietCollections = 2;
/** Bytes above the idle level that justify a collection, which also discards compiled code. */
const minGarbageBytes = 64 * 1024 * 1024;

/** Memory use in bytes: resident size, and V8's old generation. */
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
  /** @param isThorough also compacts the heap and returns pages to the system, in several collections */
  readonly collect?: (isThorough: boolean) => void;
  readonly now?: () => number; // monotonic ms
  /** Event loop utilization since the last call, 0 to 1. */
  readonly utilization?: () => number;
}

/**
 * Compares the process's memory use with its limits, because reservations are estimates. Near a limit it empties the caches and collects
 * garbage; if that is not enough, it raises the memory level.
 */
export class MemoryWatch implements Disposable {
  readonly #options: Required<MemoryWatchOptions>;
  readonly #timer: NodeJS.Timeout;
  readonly #collectThrottle: Throttle;
  #periodStartedAt: number;
  #collectionsLeft = quietCollections;
  /** Lowest resident size while quiet since the last collection; undefined if not measured yet. */
  #idleBytes: number | undefined;

  constructor(options: MemoryWatchOptions) {
    const defaults = {
      read: readFigures,
      collect: createCollector(),
      now: () => performance.now(),
      utilization: createUtilizationMeter(),
    };
    this.#options = { ...defaults, ...options };
    this.#periodStartedAt = this.#options.now();
    this.#collectThrottle = new Throttle(collectIntervalMs, this.#options.now);
    this.#timer = setInterval(() => {
      this.measure();
      this.collectWhenQuiet();
    }, readIntervalMs).unref();
    options.budget.findRoom = () => this.measure(true);
  }

  /**
   * Measures, and updates the level and the room of the budget. Never throws.
   *
   * @param isRoomRequested true if a large body does not fit
   * @returns true if garbage was collected
   */
  measure(isRoomRequested = false): boolean {
    const { budget, collect, read } = this.#options;
    let used = read();
    let level = this.#levelOf(used);
    const isScarce = level !== 'normal';
    if (isScarce || isRoomRequested) budget.reclaim(budget.kept);
    const isCollected = (isScarce || isRoomRequested) && this.#collectThrottle.pass();
    if (isCollected) {
      collect(false);
      used = read();
      level = this.#levelOf(used);
    } else if (isScarce && budget.level !== 'all') {
      // Much of it may be garbage: small bodies are not rejected before a collection.
      level = 'large';
    }
    budget.room = this.#remainingRoom(used, isCollected);
    if (level !== budget.level) {
      budget.level = level;
      this.#report(level, used);
    }
    return isCollected;
  }

  /**
   * Collects garbage when the process goes quiet after startup or heavy load. V8 would otherwise hold it, and a 64 MB young generation,
   * until the next allocations: about a third of an idle gateway's memory.
   */
  collectWhenQuiet(): void {
    const { now, utilization, collect, read } = this.#options;
    if (now() - this.#periodStartedAt < quiet.period) return;
    this.#periodStartedAt = now();
    if (utilization() >= quiet.share) {
      // Traffic has interrupted the collections: they start again, unless they were complete.
      if (this.#idleBytes === undefined) this.#collectionsLeft = quietCollections;
      return;
    }
    const { process: resident } = read();
    if (this.#collectionsLeft === 0 && resident - (this.#idleBytes ?? resident) >= minGarbageBytes)
      this.#collectionsLeft = quietCollections;
    if (this.#collectionsLeft > 0) {
      this.#collectionsLeft--;
      this.#idleBytes = undefined;
      collect(this.#collectionsLeft === 0);
    } else this.#idleBytes = Math.min(resident, this.#idleBytes ?? resident);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #levelOf(used: MemoryFigures): MemoryLevel {
    const { limits } = this.#options;
    const [ofProcess, ofHeap] = [used.process / limits.process, used.heap / limits.heap];
    if (Math.max(ofProcess, ofHeap) < levelShares.large) return 'normal';
    return ofProcess < levelShares.all.process && ofHeap < levelShares.all.heap ? 'large' : 'all';
  }

  /**
   * Subtracts reserved bytes that the measurement does not show yet. Assumes that it shows only the raw bytes of the bodies or, right after
   * a collection, everything above the idle footprint. The result is never below the previous room, unless less than that is left: a
   * body that uses its reservation while it is parsed must not be subtracted twice.
   */
  #remainingRoom(used: MemoryFigures, isCollected: boolean): number {
    const { limits, budget } = this.#options;
    const available = Math.min(
      limits.process * levelShares.large - used.process,
      limits.heap * levelShares.large - used.heap,
    );
    const allocated = Math.max(
      budget.reserved / footprint.event,
      isCollected ? used.process - idleFootprint.process : 0,
    );
    return Math.min(available, Math.max(budget.room, available - Math.max(0, budget.reserved - allocated)));
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

function createUtilizationMeter(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** A full collection takes about 50 ms, a thorough one 150 ms; V8 and the allocator then return unused pages. */
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
