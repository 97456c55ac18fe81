/**
 * Bytes outside of the JavaScript heap are freed with the object that holds them, which is long after they were last needed. A few hundred
 * bodies of 100 KB make the engine collect all of its garbage, and for that it walks the whole heap. Who knows that bytes are no
 * longer needed frees them here, at once; a view of them is empty from then on, and reading it throws or returns nothing.
 */

const nativeReaders = new WeakMap<ArrayBufferLike, number>();

/** Before the system reads from these bytes, later than in this call. @throws Error when they have been freed */
export function lendBytes(pieces: readonly Buffer[]): void {
  for (const { buffer } of pieces) {
    if ((buffer as ArrayBuffer).detached) throw new Error('the bytes have been freed');
    nativeReaders.set(buffer, (nativeReaders.get(buffer) ?? 0) + 1);
  }
}

/** Call once the system has read them. */
export function reclaimBytes(pieces: readonly Buffer[]): void {
  for (const { buffer } of pieces) {
    const others = (nativeReaders.get(buffer) ?? 1) - 1;
    if (others > 0) nativeReaders.set(buffer, others);
    else nativeReaders.delete(buffer);
  }
}

/**
 * Frees bytes that have no other reader. Parts of a larger memory, and bytes that the system still reads, are left to the collection
 * of garbage.
 */
export function freeBytes(pieces: readonly Buffer[]): void {
  for (const { buffer, length } of pieces) {
    if (length === buffer.byteLength && buffer instanceof ArrayBuffer && !nativeReaders.has(buffer)) buffer.transfer(0);
  }
}
