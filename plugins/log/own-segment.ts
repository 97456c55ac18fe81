import { askOrPost, type Disk } from './disk/contract.ts';
import type { FileIdentity } from './disk/files.ts';
import type { OpenFile } from './disk/operations.ts';
import type { LineSink } from './line-writer.ts';
import { MemoryBlocks, type MemoryBudget } from './memory-blocks.ts';
import { openToRead, readFrom, readLines, type Segment } from './segment.ts';

/**
 * A segment of this instance. Lines are appended to its file, or to memory if no file can be created. The file stays open
 * until it is shipped, so that no lines are lost if it or its folder is removed, or its volume unmounted.
 */
export class OwnSegment implements Segment, LineSink {
  readonly path: string;
  readonly #disk: Disk;
  #file: number | undefined; // open for appending and reading
  #memory: MemoryBlocks | undefined;
  #identity: FileIdentity | undefined;
  #bytes = 0;
  #readers = 0;
  #isClosing = false;
  #isRemoved = false;
  #restoring: Promise<boolean> | undefined;

  private constructor(disk: Disk, path: string, opened?: OpenFile, memory?: MemoryBlocks) {
    this.#disk = disk;
    this.path = path;
    this.#file = opened?.file;
    this.#identity = opened;
    this.#memory = memory;
  }

  static inFile(disk: Disk, path: string, opened: OpenFile): OwnSegment {
    return new OwnSegment(disk, path, opened);
  }

  /** @param path of the file that `restore` creates */
  static inMemory(disk: Disk, path: string, budget: MemoryBudget): OwnSegment {
    return new OwnSegment(disk, path, undefined, new MemoryBlocks(budget));
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isInMemory(): boolean {
    return this.#memory !== undefined;
  }

  /** The descriptor of the file while it is open. */
  get file(): number | undefined {
    return this.#file;
  }

  append(bytes: Buffer, offset: number, length: number): number {
    const taken = this.#append(bytes, offset, length);
    this.#bytes += taken;
    return taken;
  }

  /** Appends lines that are not counted as bytes of the segment. */
  appendHead(lines: Buffer): void {
    for (let offset = 0; offset < lines.length;) offset += this.#append(lines, offset, lines.length - offset);
  }

  /** Subtracts appended bytes that did not reach the file. */
  retract(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
  }

  /** True while the file is at its path, so that a crash loses no lines. @throws DiskSilent */
  async isIntact(): Promise<boolean> {
    return this.#identity !== undefined && this.#disk.ask('isAt', this.path, this.#identity);
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
    if (memory !== undefined) return yield* readLines(path, (position) => memory.readAt(position));
    if (this.#file !== undefined) return yield* readLines(path, readFrom(this.#disk, this.#file));
    const { file } = await openToRead(this.#disk, path);
    try {
      yield* readLines(path, readFrom(this.#disk, file));
    } finally {
      this.#disk.post('close', file);
    }
  }

  /** False once the file was closed; the lines are then only in the file at the path. */
  get isHeld(): boolean {
    return this.#memory !== undefined || this.#file !== undefined;
  }

  /**
   * Rewrites the lines to the path, unless the file is there or `remove` was called. Concurrent calls share one run.
   *
   * @param prepare creates the folder
   * @param foreign devices on which the file must not be
   * @returns true if the lines were written
   * @throws Error if that fails; no file is left then
   */
  restore(prepare: () => Promise<void>, foreign: readonly number[] = []): Promise<boolean> {
    return (this.#restoring ??= this.#restore(prepare, foreign).finally(() => (this.#restoring = undefined)));
  }

  /** Closes the file after the last reader; later reads open it by its path. No more lines can be appended. */
  close(): void {
    this.#isClosing = true;
    if (this.#readers > 0) return;
    if (this.#file !== undefined) this.#disk.post('close', this.#file);
    this.#file = undefined;
    this.#memory?.release();
    this.#memory = undefined;
  }

  /** Closes the file if it is at its path. */
  async closeIfIntact(): Promise<void> {
    if (await this.isIntact()) this.close();
  }

  /** Closes the segment and removes its file; a file that cannot be removed contains no record. */
  discard(): void {
    if (this.#identity !== undefined) this.#disk.post('removeOwn', this.path, this.#identity);
    this.close();
  }

  /** Removes the file, even one that is just being written. If the disk is silent, it is removed once the disk answers. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    await this.#restoring?.catch(() => undefined);
    if (this.#identity !== undefined) await askOrPost(this.#disk, 'removeOwn', this.path, this.#identity);
  }

  async #restore(prepare: () => Promise<void>, foreign: readonly number[]): Promise<boolean> {
    if (await this.isIntact()) return false;
    await prepare();
    // The segment may have been shipped during `prepare`.
    if (this.#isRemoved) return false;
    const from = this.#memory?.copy() ?? this.#file;
    if (from === undefined) throw new Error(`${this.path} was closed and has been removed`);
    this.#identity = await this.#disk.ask('restore', this.path, from, foreign);
    this.#memory?.release();
    this.#memory = undefined;
    return true;
  }

  #append(bytes: Buffer, offset: number, length: number): number {
    if (this.#memory !== undefined) this.#memory.append(bytes, offset, length);
    return this.#file === undefined ? length : this.#disk.append(this.#file, bytes, offset, length);
  }
}
