/**
 * Native readers of each buffer.
 * | Memory outside the JavaScript heap is freed with the object that holds it, long after it was last needed. A few hundred bodies of 100
 * KB trigger a full collection, which walks the whole heap. Code that is done with its bytes therefore frees them here, immediately. A view
 * of freed bytes is empty: reading it throws or returns nothing.
 */

const nativeReaders = new WeakMap<ArrayBufferLike, number>();

/**
 * Marks bytes that the operating system reads asynchronously: they are not freed until `reclaimBytes`.
 *
 * @throws Error if they have been freed
 */
export function lendBytes(pieces: readonly Buffer[]): void {
  for (const { buffer } of pieces) {
    if ((buffer as ArrayBuffer).detached) throw new Error('the bytes have been freed');
    nativeReaders.set(buffer, (nativeReaders.get(buffer) ?? 0) + 1);
  }
}

/** Ends the loan of bytes, once the operating system has read them. */
export function reclaimBytes(pieces: readonly Buffer[]): void {
  for (const { buffer } of pieces) {
    const remaining = (nativeReaders.get(buffer) ?? 1) - 1;
    if (remaining > 0) nativeReaders.set(buffer, remaining);
    else nativeReaders.delete(buffer);
  }
}

/**
 * Frees bytes that have no native reader. Slices of a larger buffer, and bytes that are still being read, are left to the garbage
 * collector.
 */
export function freeBytes(pieces: readonly Buffer[]): void {
  for (const { buffer, length } of pieces) {
    if (length === buffer.byteLength && buffer instanceof ArrayBuffer && !nativeReaders.has(buffer)) buffer.transfer(0);
  }
}
