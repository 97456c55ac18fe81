import { runOrPost, type Disk } from './disk/contract.ts';
import type { FileIdentity } from './disk/files.ts';
import type { OpenFile } from './disk/operations.ts';
import type { LineSink } from './line-writer.ts';
import { MemoryBlocks, type MemoryBudget } from './memory-blocks.ts';
import { createFileReader, readClosedFile, readLines, type Segment } from './segment.ts';

/**
 * A segment of this instance. Lines are appended to its file, or to memory if no file can be created. The file stays open until it is
 * shipped, so that no lines are lost if the file or its folder is removed or its volume is unmounted.
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
  #restoration: Promise<boolean> | undefined;

  private constructor(disk: Disk, path: string, openFile?: OpenFile, memory?: MemoryBlocks) {
    this.#disk = disk;
    this.path = path;
    this.#file = openFile?.file;
    this.#identity = openFile;
    this.#memory = memory;
  }

  static createInFile(disk: Disk, path: string, openFile: OpenFile): OwnSegment {
    return new OwnSegment(disk, path, openFile);
  }

  /** @param path path of the file that `restore` creates */
  static createInMemory(disk: Disk, path: string, budget: MemoryBudget): OwnSegment {
    return new OwnSegment(disk, path, undefined, new MemoryBlocks(budget));
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isInMemory(): boolean {
    return this.#memory !== undefined;
  }

  get file(): number | undefined {
    return this.#file;
  }

  append(bytes: Buffer, offset: number, length: number): number {
    const appendedBytes = this.#write(bytes, offset, length);
    this.#bytes += appendedBytes;
    return appendedBytes;
  }

  /** These lines do not count toward the size of the segment. */
  appendHead(lines: Buffer): void {
    for (let offset = 0; offset < lines.length;) offset += this.#write(lines, offset, lines.length - offset);
  }

  /** Subtracts bytes that were appended but did not reach the file. */
  retract(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes - bytes);
  }

  /** Resolves with true if the file is at its path, so that a crash loses no lines. */
  async isIntact(): Promise<boolean> {
    return this.#identity !== undefined && this.#disk.run('isAt', this.path, this.#identity);
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

  #readLines(): AsyncGenerator<string[]> {
    const { path } = this;
    const memory = this.#memory;
    if (memory !== undefined) return readLines(path, (position) => memory.readAt(position));
    if (this.#file !== undefined) return readLines(path, createFileReader(this.#disk, this.#file));
    return readClosedFile(this.#disk, path);
  }

  /** Becomes false once the lines are only in the file at the path. */
  get isReadable(): boolean {
    return this.#memory !== undefined || this.#file !== undefined;
  }

  /**
   * Writes the lines to the path again, unless the file is there or `remove` was called. Concurrent calls share one run. After a failure,
   * no file remains.
   *
   * @returns true if the lines were written
   */
  restore(prepareFolder: () => Promise<void>, forbiddenDevices: readonly number[] = []): Promise<boolean> {
    return (this.#restoration ??= this.#restore(prepareFolder, forbiddenDevices).finally(
      () => (this.#restoration = undefined),
    ));
  }

  /** Closes the file once the last reader has finished. Later reads open it by its path; no more lines can be appended. */
  close(): void {
    this.#isClosing = true;
    if (this.#readers > 0) return;
    if (this.#file !== undefined) this.#disk.post('close', this.#file);
    this.#file = undefined;
    this.#memory?.release();
    this.#memory = undefined;
  }

  async closeIfIntact(): Promise<void> {
    if (await this.isIntact()) this.close();
  }

  /** If the file cannot be removed, it contains no record. */
  discard(): void {
    if (this.#identity !== undefined) this.#disk.post('removeOwn', this.path, this.#identity);
    this.close();
  }

  /** Removes the file, even one that is just being restored. If the disk is unresponsive, the file is removed once it responds. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    await this.#restoration?.catch(() => undefined);
    if (this.#identity !== undefined) await runOrPost(this.#disk, 'removeOwn', this.path, this.#identity);
  }

  async #restore(prepareFolder: () => Promise<void>, forbiddenDevices: readonly number[]): Promise<boolean> {
    if (await this.isIntact()) return false;
    await prepareFolder();
    // The segment may have been shipped during `prepareFolder`.
    if (this.#isRemoved) return false;
    const source = this.#memory?.copy() ?? this.#file;
    if (source === undefined) throw new Error(`${this.path} was closed and has been removed`);
    this.#identity = await this.#disk.run('restore', this.path, source, forbiddenDevices);
    this.#memory?.release();
    this.#memory = undefined;
    return true;
  }

  #write(bytes: Buffer, offset: number, length: number): number {
    if (this.#memory !== undefined) this.#memory.append(bytes, offset, length);
    return this.#file === undefined ? length : this.#disk.append(this.#file, bytes, offset, length);
  }
}
