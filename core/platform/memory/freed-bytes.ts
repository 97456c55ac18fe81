/*
 * Memory outside the JavaScript heap is freed with the object that holds it, long after it was last needed. A few hundred bodies of 100 KB
 * trigger a full collection, which walks the whole heap. Code that no longer needs its bytes therefore frees them here. A view of freed
 * bytes is empty, so reading it throws or returns nothing.
 */

const nativeReaders = new WeakMap<ArrayBufferLike, number>();

/**
 * Marks bytes that the operating system reads asynchronously, so that they are not freed before `reclaimBytes`.
 *
 * @throws Error if they have been freed
 */
export function lendBytes(buffers: readonly Buffer[]): void {
  for (const { buffer } of buffers) {
    if ((buffer as ArrayBuffer).detached) throw new Error('the bytes have been freed');
    nativeReaders.set(buffer, (nativeReaders.get(buffer) ?? 0) + 1);
  }
}

/** Ends the loan of bytes that the operating system has read. */
export function reclaimBytes(buffers: readonly Buffer[]): void {
  for (const { buffer } of buffers) {
    const remaining = (nativeReaders.get(buffer) ?? 1) - 1;
    if (remaining > 0) nativeReaders.set(buffer, remaining);
    else nativeReaders.delete(buffer);
  }
}

/** Frees bytes without native readers. Slices of a larger buffer, and bytes that are still being read, are left to the garbage collector. */
export function freeBytes(buffers: readonly Buffer[]): void {
  for (const { buffer, length } of buffers) {
    if (length === buffer.byteLength && buffer instanceof ArrayBuffer && !nativeReaders.has(buffer)) buffer.transfer(0);
  }
}
