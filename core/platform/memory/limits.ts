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

const semiSpaceCount = 3;
/**
 * Share of V8's limit that is the old generation, at least, if V8 chooses both sizes: a semi-space has 1/64 of the old generation in V8 14
 * (Node 26), 1/32 in V8 13 (Node 24).
 */
const minOldShare = 32 / (32 + semiSpaceCount);

/**
 * Returns the heap limit without the young generation, which V8 includes in its limit.
 *
 * @param limit bytes, from V8
 * @param options of Node, which may set the size of the old generation or of a semi-space
 */
export function oldGeneration(
  limit: number,
  options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '),
): number {
  const old = readMegabytes(options, /--max[-_]old[-_]space[-_]size[= ](\d+)/);
  // V8 lowers a size that the machine's memory cannot hold.
  if (old !== undefined) return Math.min(old, limit);
  const semiSpace = readMegabytes(options, /--max[-_]semi[-_]space[-_]size[= ](\d+)/);
  return semiSpace === undefined ? limit * minOldShare : Math.max(limit - semiSpaceCount * semiSpace, limit / 2);
}

function readMegabytes(options: string, pattern: RegExp): number | undefined {
  const megabytes = pattern.exec(options)?.[1];
  return megabytes === undefined ? undefined : Number(megabytes) * MiB;
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
