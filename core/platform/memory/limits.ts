import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { bounds } from '../bounds.ts';

const MiB = 1024 * 1024;

/** Memory limits of a process in bytes. */
export interface MemoryLimits {
  /** Resident memory. */
  readonly process: number;
  /** V8's old generation. When it is full, V8 aborts the process. */
  readonly heap: number;
}

/** Memory of a gateway that holds no bodies, in bytes. Measured after a thousand requests. */
export const base = { process: 240 * MiB, heap: 112 * MiB };
/** Share of the remaining memory that may be reserved; the rest is for uncollected garbage. */
const reservableShare = 0.65;
/** Reserved bytes per byte on the heap; the others are in buffers outside it. */
const perHeapByte = 1.25;
/** Share of the process limit for each cache, unless its own bound is lower. */
const cacheShare = 1 / 8;
const minCapacity = 16 * MiB;

/**
 * Returns the memory limits of one process, in bytes.
 *
 * @param chosen bytes, from gateway.yaml; default: the limit of the container, or the machine's memory
 * @param processes number of processes that share the limit
 */
export function memoryLimits(
  chosen?: number,
  constrained = process.constrainedMemory(),
  heap = oldGeneration(getHeapStatistics().heap_size_limit),
  processes = 1,
): MemoryLimits {
  // Without a limit, this is 0 or a huge number.
  const available = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return { process: Math.min(chosen ?? available, available) / processes, heap };
}

const defaultSemiSpace = 32; // MiB, V8's default
const semiSpaceCount = 3;

/**
 * Returns the heap limit without the young generation, which V8 includes in its limit: a quarter of it with an old generation of 256 MB.
 *
 * @param options of Node, which may set the size of a semi-space
 */
export function oldGeneration(
  limit: number,
  options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '),
): number {
  const given = /--max[-_]semi[-_]space[-_]size[= ](\d+)/.exec(options)?.[1];
  const young = semiSpaceCount * Number(given ?? defaultSemiSpace) * MiB;
  // On a smaller heap, the young generation is smaller too.
  return Math.max(limit - young, limit / 2);
}

/** Returns the maximum bytes of bodies and caches. */
export function capacityOf({ process, heap }: MemoryLimits): number {
  return Math.max(minCapacity, Math.min((process - base.process) * reservableShare, (heap - base.heap) * perHeapByte));
}

/** Returns the maximum bytes of the reply cache, and of the cache of grouped values. */
export function cacheSizes({ process }: MemoryLimits): { readonly replies: number; readonly groups: number } {
  const limit = process * cacheShare;
  return { replies: Math.min(bounds.memoryCache, limit), groups: Math.min(bounds.memoryGroups, limit / 2) };
}
