import { getHeapStatistics } from 'node:v8';
import { afterEach, describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/index.ts';
import { memoryCheck } from '#core/gateway/health/process-checks.ts';
import { createLogger } from '#core/platform/logger.ts';
import { ProcessMemory } from '#core/platform/memory/budget.ts';
import {
  computeCacheSizes,
  computeCapacity,
  computeMemoryLimits,
  computeOldGeneration,
} from '#core/platform/memory/limits.ts';
import { MemoryWatch } from '#core/platform/memory/watch.ts';

const MiB = 1024 * 1024;
const lines: string[] = [];
let budget = new ProcessMemory(1_000);
const opened: MemoryWatch[] = [];
afterEach(() => {
  for (const watch of opened.splice(0)) watch[Symbol.dispose]();
});

function openWatch(options: ConstructorParameters<typeof MemoryWatch>[0]): MemoryWatch {
  const watch = new MemoryWatch(options);
  opened.push(watch);
  return watch;
}

/** A watch over figures that the test sets. @param garbage bytes that a collection frees */
function watchFigures(garbage = 0, step = 10_000) {
  lines.length = 0;
  budget = new ProcessMemory(1_000);
  const figures = { process: 100, heap: 100 };
  let clock = 0;
  const open = openWatch({
    limits: { process: 1_000, heap: 1_000 },
    budget,
    log: createLogger((line) => lines.push(line)),
    read: () => figures,
    now: () => (clock += step),
    collect() {
      figures.process -= garbage;
    },
  });
  return { watch: open, figures };
}

/** A watch over figures in units of a body that is too large to be small. @param garbage units that a collection frees */
function watchLarge(garbage = 0) {
  const large = 400_000;
  budget = new ProcessMemory(10 * large);
  const figures = { process: 0, heap: 0 };
  let collections = 0;
  const watched = openWatch({
    limits: { process: 10 * large, heap: 100 * large },
    budget,
    log: createLogger(() => undefined),
    read: () => figures,
    now: () => 0,
    collect() {
      collections++;
      figures.process -= garbage * large;
    },
  });
  return { large, figures, watched, collected: () => collections };
}

describe('the watch over memory', () => {
  it('refuses large bodies from 75 % of a limit, new requests from 95 %, and logs each change once', () => {
    const { watch, figures } = watchFigures();
    const levels = [740, 760, 870, 960, 500].map((bytes) => {
      figures.process = bytes;
      watch.measure();
      return budget.level;
    });
    expect(levels).toEqual(['normal', 'large', 'large', 'all', 'normal']);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain('large bodies are rejected');
    expect(lines[1]).toContain('new requests are rejected');
    expect(lines[2]).toContain('sufficient again');
  });

  it('refuses new requests from 85 % of the heap, before V8 gives up', () => {
    const { watch, figures } = watchFigures();
    const levels = [740, 760, 860, 500].map((bytes) => {
      figures.heap = bytes;
      watch.measure();
      return budget.level;
    });
    expect(levels).toEqual(['normal', 'large', 'all', 'normal']);
  });

  it('gives caches back and collects garbage before it refuses anything', () => {
    const { watch, figures } = watchFigures(500);
    let held = 300;
    budget.registerCache({ heldBytes: 300, maxBytes: 300, free: () => (held = 0) });
    figures.process = 900;
    watch.measure();
    expect([budget.level, held]).toEqual(['normal', 0]);
  });

  it('refuses large bodies, and no small ones, until garbage may be collected again', () => {
    const { watch, figures } = watchFigures(0, 0);
    figures.process = 800;
    watch.measure();
    figures.process = 990;
    watch.measure();
    expect(budget.level).toBe('large');
  });

  it('lets large bodies reserve only what the process has left', () => {
    const { large, figures, watched } = watchLarge();
    figures.process = 5.4 * large;
    watched.measure();
    expect(budget.level).toBe('normal');
    expect(budget.createShare('a').grow(large)).toBe(true);
    watched.measure();
    expect(budget.createShare('b').grow(large)).toBe(true);
    expect(budget.createShare('c').grow(large)).toBe(false);
  });

  it('leaves room for the response when a body takes what it has reserved', () => {
    const { large, figures, watched, collected } = watchLarge();
    watched.measure();
    const share = budget.createShare('a');
    expect(share.grow(5 * large)).toBe(true);
    figures.process = 5 * large;
    watched.measure();
    expect(share.grow(large)).toBe(true);
    expect(collected()).toBe(0);
  });

  it('knows after a collection what bodies have taken already', () => {
    budget = new ProcessMemory(800 * MiB);
    const figures = { process: 540 * MiB, heap: 0 };
    const open = openWatch({
      limits: { process: 1_000 * MiB, heap: 1_000 * MiB },
      budget,
      log: createLogger(() => undefined),
      read: () => figures,
      now: () => 0,
      collect: () => (figures.process = 600 * MiB),
    });
    open.measure();
    expect(budget.createShare('a').grow(210 * MiB)).toBe(true);
    figures.process = 740 * MiB;
    open.measure();
    expect(budget.createShare('b').grow(100 * MiB)).toBe(true);
  });

  it('collects garbage for a large body that does not fit, and not again for the next one', () => {
    const { large, figures, watched, collected } = watchLarge(3);
    figures.process = 7 * large;
    watched.measure();
    expect(collected()).toBe(0);
    expect(budget.createShare('a').grow(2 * large)).toBe(true);
    expect(collected()).toBe(1);
    figures.process = 7 * large;
    watched.measure();
    expect(budget.createShare('b').grow(2 * large)).toBe(false);
    expect(collected()).toBe(1);
  });

  it('accepts a new request at any level while nothing is held', () => {
    const { watch, figures } = watchFigures();
    figures.process = 990;
    watch.measure();
    expect(budget.isExhausted).toBe(false);
    budget.createShare('a').grow(10);
    expect(budget.isExhausted).toBe(true);
  });
});

describe('the health check of memory', () => {
  it('fails from a refusal on for a minute, whatever the wall clock is set to, and says what was refused', () => {
    const host = createTestHost({ now: Date.now() });
    const check = () => memoryCheck.check({ ...host, memory: budget });
    budget = new ProcessMemory(1_000, host.monotonic);
    expect(check()).toEqual({ ok: true });
    budget.countRefusal('body');
    host.clock.now += 7_200_000;
    expect(check()).toMatchObject({ ok: false, reason: expect.stringContaining('1 request bodies') as string });
    host.clock.advance(61_000);
    expect(check()).toEqual({ ok: true });
    budget.level = 'all';
    expect(check()).toMatchObject({ ok: false, reason: expect.stringContaining('new requests') as string });
  });
});

describe('the limits of memory', () => {
  it('are those of the container, and lower ones of gateway.yaml', () => {
    const heap = 300 * MiB;
    expect(computeMemoryLimits(undefined, 512 * MiB, heap)).toEqual({ process: 512 * MiB, heap });
    expect(computeMemoryLimits(400 * MiB, 512 * MiB, heap).process).toBe(400 * MiB);
    expect(computeMemoryLimits(900 * MiB, 512 * MiB, heap).process).toBe(512 * MiB);
  });

  it.each([
    // Measured: V8's limit in containers, without options. The old generation has 256, 512 and 2,048 MiB.
    { node: 24, container: 512, limit: 259, old: 256 },
    { node: 24, container: 1_024, limit: 560, old: 512 },
    { node: 24, container: 4_096, limit: 2_240, old: 2_048 },
    { node: 26, container: 512, limit: 268, old: 256 },
    { node: 26, container: 1_024, limit: 536, old: 512 },
    { node: 26, container: 4_096, limit: 2_144, old: 2_048 },
  ])('of the heap are nearly those of the old generation: Node $node, $container MB', ({ limit, old }) => {
    const found = computeOldGeneration(limit * MiB, '') / MiB;
    expect(found).toBeLessThanOrEqual(old);
    expect(found).toBeGreaterThan(old * 0.92);
  });

  it.each([
    { options: '--max-old-space-size=256', limit: 352, old: 256 },
    { options: '--max_old_space_size 256 --max-semi-space-size=16', limit: 304, old: 256 },
    { options: '--max-semi-space-size=16', limit: 304, old: 256 },
    { options: '--max-old-space-size=4096', limit: 268, old: 268 },
    { options: '--max-semi-space-size=64', limit: 100, old: 50 },
  ])('of the heap follow $options', ({ options, limit, old }) => {
    expect(computeOldGeneration(limit * MiB, options)).toBe(old * MiB);
  });

  it('of the heap are below those of V8', () => {
    expect(computeMemoryLimits().heap).toBeLessThan(getHeapStatistics().heap_size_limit);
  });

  it('are divided by the processes that share them', () => {
    expect(computeMemoryLimits(900 * MiB, 1_024 * MiB, 300 * MiB, 3)).toEqual({ process: 300 * MiB, heap: 300 * MiB });
  });

  it('are those of the machine without a container', () => {
    const unlimited = computeMemoryLimits(undefined, 0, 4_096 * MiB).process;
    expect(unlimited).toBeGreaterThan(0);
    expect(computeMemoryLimits(undefined, 2 ** 64, 4_096 * MiB).process).toBe(unlimited);
  });

  it('leave room for the gateway itself, in the process and in the heap', () => {
    const heap = 4_096 * MiB;
    expect(computeCapacity({ process: 512 * MiB, heap })).toBeLessThan(300 * MiB);
    expect(computeCapacity({ process: 8_192 * MiB, heap: 300 * MiB })).toBeLessThan(300 * MiB);
    expect(computeCapacity({ process: 100 * MiB, heap })).toBeGreaterThan(0);
  });

  it('make the caches of a small process small', () => {
    const sizes = computeCacheSizes({ process: 512 * MiB, heap: 0 });
    expect(sizes).toEqual({ replies: 64 * MiB, groups: 32 * MiB });
  });
});

interface Period {
  /** Share of the event loop's time that is used. */
  readonly share: number;
  /** MiB that the process has at its end. */
  readonly resident?: number;
}

/** @returns the collections in each of these periods of ten seconds */
function collectionsIn(periods: readonly Period[]): number[] {
  const collections = periods.map(() => 0);
  let [period, clock] = [0, 0];
  const open = openWatch({
    limits: { process: 1_000 * MiB, heap: 1_000 * MiB },
    budget: new ProcessMemory(1_000),
    log: createLogger(() => undefined),
    read: () => ({ process: (periods[period]?.resident ?? 100) * MiB, heap: MiB }),
    now: () => clock,
    utilization: () => periods[period]?.share ?? 0,
    collect: () => void collections[period]!++,
  });
  for (; period < periods.length; period++) {
    for (const end = clock + 10_000; clock < end;) {
      clock += 100;
      open.collectWhenQuiet();
    }
  }
  return collections;
}

describe('a process that becomes quiet', () => {
  const [quiet, busy] = [{ share: 0.01 }, { share: 0.5 }];
  const started = [quiet, quiet, quiet];

  it('collects the garbage of its start in two steps', () => {
    expect(collectionsIn([busy, quiet, quiet, quiet, quiet])).toEqual([0, 1, 1, 0, 0]);
  });

  it('gives back at the second time what lies between the objects', () => {
    const thorough: boolean[] = [];
    let clock = 0;
    const open = openWatch({
      limits: { process: 1_000 * MiB, heap: 1_000 * MiB },
      budget: new ProcessMemory(1_000),
      log: createLogger(() => undefined),
      collect: (isThorough) => void thorough.push(isThorough),
      now: () => clock,
      utilization: () => 0,
    });
    for (; clock < 60_000; clock += 100) open.collectWhenQuiet();
    expect(thorough).toEqual([false, true]);
  });

  it('collects again after a load that has left much', () => {
    const grown = { resident: 170 };
    const periods = [...started, { ...busy, ...grown }, { ...quiet, ...grown }, quiet, quiet];
    expect(collectionsIn(periods)).toEqual([1, 1, 0, 0, 1, 1, 0]);
  });

  it('keeps its compiled code after a load that has left little', () => {
    const grown = { resident: 160 };
    const periods = [...started, { ...busy, ...grown }, { ...quiet, ...grown }, { ...quiet, ...grown }];
    expect(collectionsIn(periods)).toEqual([1, 1, 0, 0, 0, 0]);
  });

  it('collects what a load has left that was too light to count as one', () => {
    const grown = { resident: 170 };
    expect(collectionsIn([...started, quiet, { ...quiet, ...grown }, quiet, quiet])).toEqual([1, 1, 0, 0, 1, 1, 0]);
  });

  it('begins again where a load has interrupted it', () => {
    expect(collectionsIn([quiet, busy, quiet, quiet])).toEqual([1, 0, 1, 1]);
  });

  it('collects nothing while it is busy', () => {
    expect(collectionsIn([{ share: 0.05 }, { share: 0.9 }, { share: 0.06 }])).toEqual([0, 0, 0]);
  });
});
