import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from '../logger.ts';
import { Throttle } from '../timing/throttle.ts';
import { footprint, type MemoryLevel, type ProcessMemory } from './budget.ts';
import { idleFootprint, type MemoryLimits } from './limits.ts';

const readIntervalMs = 100;
const collectIntervalMs = 1_000;
/** Above 80 % of its heap limit, V8 aborts if collections free almost nothing. */
const levelShares = { large: 0.75, all: { process: 0.95, heap: 0.85 } } as const;

const quietPeriod = { periodMs: 10_000, maxShare: 0.05 }; // `maxShare`: of event loop utilization
const quietCollections = 2; // V8 notices the low allocation rate only in the second one, which also returns fragmented pages
const minGarbageBytes = 64 * 1024 * 1024; // above the idle level that justify a collection, although it also discards compiled code

interface MemoryUsage {
  readonly process: number; // resident size
  readonly heap: number; // V8's old generation
}

const readMemoryUsage = (): MemoryUsage => ({
  process: process.memoryUsage.rss(),
  heap: getHeapStatistics().used_heap_size - readYoungGeneration(),
});

function readYoungGeneration(): number {
  return getHeapSpaceStatistics().reduce(
    (sum, { space_name: name, space_used_size: used }) => (name.startsWith('new_') ? sum + used : sum),
    0,
  );
}

interface MemoryWatchOptions {
  readonly limits: MemoryLimits;
  readonly budget: ProcessMemory;
  readonly log: Logger;
  readonly read?: () => MemoryUsage;
  readonly collect?: (isThorough: boolean) => void; // a thorough one also compacts the heap and returns pages to the system
  readonly now?: () => number; // monotonic ms
  readonly utilization?: () => number; // of the event loop since the last call, 0 to 1
}

/**
 * Compares the process's memory use with its limits, because reservations are estimates. Near a limit, empties the caches and collects
 * garbage; if that does not help, raises the memory level.
 */
export class MemoryWatch implements Disposable {
  readonly #options: Required<MemoryWatchOptions>;
  readonly #timer: NodeJS.Timeout;
  readonly #collectThrottle: Throttle;
  #periodStartedAt: number;
  #remainingCollections = quietCollections;
  #idleBytes: number | undefined; // lowest resident size while quiet since the last collection

  constructor(options: MemoryWatchOptions) {
    const defaults = {
      read: readMemoryUsage,
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
    options.budget.measureRoom = () => this.measure(true);
  }

  /**
   * Measures memory use, and updates the level and the room of the budget. Never throws.
   *
   * @param isRoomRequested true if a large body does not fit
   * @returns true if garbage was collected
   */
  measure(isRoomRequested = false): boolean {
    const { budget, collect, read } = this.#options;
    let usage = read();
    let level = this.#findLevel(usage);
    const isScarce = level !== 'normal';
    if (isScarce || isRoomRequested) budget.reclaim(budget.cachedBytes);
    const isCollected = (isScarce || isRoomRequested) && this.#collectThrottle.tryPass();
    if (isCollected) {
      collect(false);
      usage = read();
      level = this.#findLevel(usage);
    } else if (isScarce && budget.level !== 'all') {
      // Much of the memory may be garbage, so small bodies are not rejected before a collection.
      level = 'large';
    }
    budget.room = this.#remainingRoom(usage, isCollected);
    if (level !== budget.level) {
      budget.level = level;
      this.#report(level, usage);
    }
    return isCollected;
  }

  /**
   * Collects garbage when the process goes quiet after startup or heavy load. V8 would otherwise hold the garbage, and a young generation of
   * 64 MB, until the next allocations. That is about a third of an idle gateway's memory.
   */
  collectWhenQuiet(): void {
    const { now, utilization, collect, read } = this.#options;
    if (now() - this.#periodStartedAt < quietPeriod.periodMs) return;
    this.#periodStartedAt = now();
    if (utilization() >= quietPeriod.maxShare) {
      // If traffic interrupted the collections, all of them are due again.
      if (this.#idleBytes === undefined) this.#remainingCollections = quietCollections;
      return;
    }
    const { process: resident } = read();
    if (this.#remainingCollections === 0 && resident - (this.#idleBytes ?? resident) >= minGarbageBytes)
      this.#remainingCollections = quietCollections;
    if (this.#remainingCollections > 0) {
      this.#remainingCollections--;
      this.#idleBytes = undefined;
      collect(this.#remainingCollections === 0);
    } else this.#idleBytes = Math.min(resident, this.#idleBytes ?? resident);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #findLevel(usage: MemoryUsage): MemoryLevel {
    const { limits } = this.#options;
    const [processShare, heapShare] = [usage.process / limits.process, usage.heap / limits.heap];
    if (Math.max(processShare, heapShare) < levelShares.large) return 'normal';
    return processShare < levelShares.all.process && heapShare < levelShares.all.heap ? 'large' : 'all';
  }

  /**
   * Computes the room left by a measurement, minus reserved bytes that the measurement does not show yet. Assumes that it shows only the raw
   * bytes of the bodies or, right after a collection, everything above the idle footprint. The result is not below the previous room
   * if that much is available, so that a body that uses its reservation while it is parsed is not subtracted twice.
   */
  #remainingRoom(usage: MemoryUsage, isCollected: boolean): number {
    const { limits, budget } = this.#options;
    const available = Math.min(
      limits.process * levelShares.large - usage.process,
      limits.heap * levelShares.large - usage.heap,
    );
    const allocated = Math.max(
      budget.reserved / footprint.event,
      isCollected ? usage.process - idleFootprint.process : 0,
    );
    return Math.min(available, Math.max(budget.room, available - Math.max(0, budget.reserved - allocated)));
  }

  #report(level: MemoryLevel, usage: MemoryUsage): void {
    const { limits, log } = this.#options;
    const state = `${formatMiB(usage.process)} of ${formatMiB(limits.process)}, and ${formatMiB(usage.heap)} of ${formatMiB(limits.heap)} of the heap`;
    if (level === 'normal') log.info(`memory is sufficient again: ${state}`);
    else log.warn(`memory is scarce: ${state}; ${levelEffects[level]}`);
  }
}

const levelEffects = {
  large: 'the caches are empty, and large bodies are rejected',
  all: 'the caches are empty, and new requests are rejected',
} as const;

function formatMiB(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}

function createUtilizationMeter(): () => number {
  let previous = performance.eventLoopUtilization();
  return () => {
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, previous);
    previous = current;
    return utilization;
  };
}

/** A full collection takes about 50 ms; a thorough one takes 150 ms and returns unused pages to the system. */
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
