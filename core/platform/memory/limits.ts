import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { bounds } from '../bounds.ts';

const MiB = 1024 * 1024;

/** Memory limits of a process in bytes. */
export interface MemoryLimits {
  readonly process: number; // resident memory
  readonly heap: number; // V8's old generation; when it is full, V8 aborts the process
}

/** Memory of a gateway without any bodies, in bytes. Measured after a thousand requests. */
export const idleFootprint = { process: 240 * MiB, heap: 112 * MiB };
const reservableShare = 0.65; // of the remaining memory; the rest is for uncollected garbage
const reservedPerHeapByte = 1.25; // the other bytes are in buffers outside the heap
const cacheShare = 1 / 8; // of the process limit, for each cache; a cache's own bound may be lower
const minCapacity = 16 * MiB;

/**
 * Computes the memory limits of one process, in bytes.
 *
 * @param configured bytes from gateway.yaml; default: the limit of the container, or the machine's memory
 * @param processes number of processes that share the limit
 */
export function computeMemoryLimits(
  configured?: number,
  containerLimit = process.constrainedMemory(),
  heap = computeOldGeneration(getHeapStatistics().heap_size_limit),
  processes = 1,
): MemoryLimits {
  // Without a limit, `constrainedMemory` returns 0 or a huge number.
  const available = containerLimit > 0 ? Math.min(containerLimit, totalmem()) : totalmem();
  return { process: Math.min(configured ?? available, available) / processes, heap };
}

const semiSpaceCount = 3;
/**
 * Minimum share of the old generation in V8's limit if V8 chooses both sizes. A semi-space has 1/64 of the old generation in V8 14 (Node
 * 26), and 1/32 in V8 13 (Node 24).
 */
const minOldShare = 32 / (32 + semiSpaceCount);

/**
 * Computes the heap limit without the young generation, which V8 includes in its limit.
 *
 * @param limit V8's heap limit, bytes
 * @param options command-line options of Node.js, which may set the size of the old generation or of a semi-space
 */
export function computeOldGeneration(
  limit: number,
  options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '),
): number {
  const oldSpace = readSizeOption(options, /--max[-_]old[-_]space[-_]size[= ](\d+)/);
  // V8 lowers a size that exceeds the machine's memory.
  if (oldSpace !== undefined) return Math.min(oldSpace, limit);
  const semiSpace = readSizeOption(options, /--max[-_]semi[-_]space[-_]size[= ](\d+)/);
  return semiSpace === undefined ? limit * minOldShare : Math.max(limit - semiSpaceCount * semiSpace, limit / 2);
}

function readSizeOption(options: string, pattern: RegExp): number | undefined {
  const megabytes = pattern.exec(options)?.[1];
  return megabytes === undefined ? undefined : Number(megabytes) * MiB;
}

/** Computes the maximum bytes of bodies and caches. */
export function computeCapacity({ process, heap }: MemoryLimits): number {
  return Math.max(
    minCapacity,
    Math.min((process - idleFootprint.process) * reservableShare, (heap - idleFootprint.heap) * reservedPerHeapByte),
  );
}

export function computeCacheSizes({ process }: MemoryLimits): { readonly replies: number; readonly groups: number } {
  const limit = process * cacheShare;
  return { replies: Math.min(bounds.memoryCache, limit), groups: Math.min(bounds.memoryGroups, limit / 2) };
}
