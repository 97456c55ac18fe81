import { closeSync, fstatSync, ftruncateSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { LineSink } from './line-writer.ts';
import { MemoryBlocks, type MemoryBudget } from './memory-blocks.ts';
import { readFrom, readLines, type Segment, UnreadableSegment } from './segment.ts';

const copyBytes = 256 * 1024;

/**
 * A segment of this instance. Lines are appended to its file, or to memory if no file can be created. The file stays open
 * until it is shipped, so that nothing is lost when it or its folder is removed, or its volume unmounted.
 */
export class OwnSegment implements Segment, LineSink {
  readonly path: string;
  /** Open for appending and reading. */
  #file: number | undefined;
  #memory: MemoryBlocks | undefined;
  /** Of its file; undefined while it has none. */
  #identity: { readonly dev: number; readonly ino: number } | undefined;
  #bytes = 0;
  #readers = 0;
  #isClosing = false;

  private constructor(path: string, file?: number, memory?: MemoryBlocks) {
    this.path = path;
    this.#file = file;
    this.#memory = memory;
    if (file !== undefined) this.#identity = fstatSync(file);
  }

  /**
   * @param head lines that are not counted as bytes of the segment
   * @param room bytes that the disk must have free besides: an empty file can be created on a full disk
   * @throws Error when there is no place for the file, the head or the room; no file is left then
   */
  static create(path: string, head: Buffer, room = 0): OwnSegment {
    const file = openSync(path, 'ax+', 0o600);
    try {
      if (room > 0) {
        writeAll(file, Buffer.alloc(room), room);
        ftruncateSync(file);
      }
      writeAll(file, head, head.length);
      return new OwnSegment(path, file);
    } catch (error) {
      closeSync(file);
      rmSync(path, { force: true });
      throw error;
    }
  }

  /** @param path of the file that `restore` makes */
  static inMemory(path: string, budget: MemoryBudget): OwnSegment {
    return new OwnSegment(path, undefined, new MemoryBlocks(budget));
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isInMemory(): boolean {
    return this.#memory !== undefined;
  }

  /** True while its file is open. */
  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  append(bytes: Buffer, offset: number, length: number): number {
    if (this.#memory !== undefined) this.#memory.append(bytes, offset, length);
    const written = this.#file === undefined ? length : writeSync(this.#file, bytes, offset, length);
    this.#bytes += written;
    return written;
  }

  /** True while its file is at its path, so that a crash would lose nothing. */
  isIntact(): boolean {
    if (this.#identity === undefined) return false;
    try {
      const found = statSync(this.path);
      return found.ino === this.#identity.ino && found.dev === this.#identity.dev;
    } catch {
      return false;
    }
  }

  async *read(): AsyncGenerator<string[]> {
    this.#readers++;
    try {
      yield* this.#readLines();
    } finally {
      this.#readers--;
      if (this.#isClosing) this.close();
    }
  }

  async *#readLines(): AsyncGenerator<string[]> {
    const { path } = this;
    const memory = this.#memory;
    if (memory !== undefined) return yield* readLines(path, (buffer, position) => memory.readAt(buffer, position));
    const file = this.#file;
    if (file !== undefined) return yield* readLines(path, readFrom(file));
    const opened = await open(path).catch((error: unknown) => {
      throw new UnreadableSegment(path, error);
    });
    await using _ = opened;
    yield* readLines(path, readFrom(opened.fd));
  }

  /** Writes its lines to its path again. @throws Error when that is not possible; no file is left then */
  restore(): void {
    const copy = openSync(this.path, 'wx', 0o600);
    try {
      const buffer = Buffer.allocUnsafe(copyBytes);
      for (let position = 0, length = 0; ; position += length) {
        length = this.#readSync(buffer, position);
        if (length === 0) break;
        writeAll(copy, buffer, length);
      }
      this.#identity = fstatSync(copy);
    } catch (error) {
      rmSync(this.path, { force: true });
      throw error;
    } finally {
      closeSync(copy);
    }
    this.#memory?.release();
    this.#memory = undefined;
  }

  /** Closes its file after the last reader; later it is read by its path. No lines are appended any more. */
  close(): void {
    this.#isClosing = true;
    if (this.#readers > 0) return;
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#memory?.release();
    this.#memory = undefined;
  }

  /** Closes it without a trace; a file that cannot be removed has no record. */
  discard(): void {
    try {
      if (this.isIntact()) rmSync(this.path, { force: true });
    } catch {}
    this.close();
  }

  /** Removes the file at its path, if it is its own. */
  async remove(): Promise<void> {
    if (this.isIntact()) await rm(this.path, { force: true });
  }

  #readSync(buffer: Buffer, position: number): number {
    if (this.#memory !== undefined) return this.#memory.readAt(buffer, position);
    return this.#file === undefined ? 0 : readSync(this.#file, buffer, 0, buffer.length, position);
  }
}

function writeAll(file: number, bytes: Buffer, length: number): void {
  for (let offset = 0; offset < length;) offset += writeSync(file, bytes, offset, length - offset);
}
