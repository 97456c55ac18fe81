import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { bounds } from '../bounds.ts';

const MiB = 1024 * 1024;

/** Memory limits of a process in bytes. */
export interface MemoryLimits {
  /** Of its resident memory. */
  readonly process: number;
  /** Of V8's old generation: when it is full, the process ends. */
  readonly heap: number;
}

/** Memory of a gateway without bodies: resident, and on the heap. Measured after a thousand requests. */
export const base = { process: 240 * MiB, heap: 112 * MiB };
/** Share of the remainder that may be reserved: the other part is uncollected garbage. */
const reservable = 0.65;
/** Bytes reserved per byte on the heap; the others are in buffers outside of it. */
const perHeapByte = 1.25;
/** Share of the limit for the caches, unless their own bounds are lower. */
const cached = 1 / 8;
const least = 16 * MiB;

/**
 * @param chosen bytes, from gateway.yaml; by default the limit of the container, or the memory of the machine
 * @param processes that share them
 */
export function memoryLimits(
  chosen?: number,
  constrained = process.constrainedMemory(),
  heap = oldGeneration(getHeapStatistics().heap_size_limit),
  processes = 1,
): MemoryLimits {
  // 0 or an enormous number where there is no limit.
  const given = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return { process: Math.min(chosen ?? given, given) / processes, heap };
}

const semiSpace = 32; // MiB; V8's default
const semiSpaces = 3;

/**
 * The limit of the heap without the young generation, which is part of what V8 calls the limit: with an old generation of 256 MB
 * it is a quarter of it.
 *
 * @param options of Node, in which the size of a semi-space may be
 */
export function oldGeneration(
  limit: number,
  options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' '),
): number {
  const given = /--max[-_]semi[-_]space[-_]size[= ](\d+)/.exec(options)?.[1];
  const young = semiSpaces * Number(given ?? semiSpace) * MiB;
  // A heap of less than that has a smaller young generation.
  return Math.max(limit - young, limit / 2);
}

/** Bytes that bodies and caches may hold. */
export function capacityOf({ process, heap }: MemoryLimits): number {
  return Math.max(least, Math.min((process - base.process) * reservable, (heap - base.heap) * perHeapByte));
}

/** Bytes that the cache of replies, and that of values in groups, may have. */
export function cacheSizes({ process }: MemoryLimits): { readonly replies: number; readonly groups: number } {
  const most = process * cached;
  return { replies: Math.min(bounds.memoryCache, most), groups: Math.min(bounds.memoryGroups, most / 2) };
}
