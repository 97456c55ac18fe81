import { basename } from 'node:path';
import { bounds } from '#core/platform/bounds.ts';
import { parseJson } from '#core/platform/json.ts';
import { runOrPost, type Disk, DiskUnresponsive } from './disk/contract.ts';
import { createPartPath } from './disk/files.ts';

/** A part of the journal that is shipped and removed on its own. */
export interface Segment {
  readonly path: string; // the file may be gone
  /**
   * Reads the lines, a few hundred at a time. Omits a last line that a crash has truncated; its request still has a `begin` line.
   *
   * @throws UnreadableSegment
   */
  read(): AsyncGenerator<string[]>;
  remove(): Promise<void>;
}

/** Error for a segment that cannot be read because of the disk. If the disk is unresponsive, `DiskUnresponsive` is thrown instead. */
export class UnreadableSegment extends Error {
  readonly isPermanent: boolean; // false if a later attempt may succeed, for example because file descriptors were exhausted

  constructor(path: string, cause: unknown) {
    super(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.isPermanent = permanentCodes.has((cause as NodeJS.ErrnoException).code ?? '');
  }
}

type ReadAt = (position: number) => Uint8Array | Promise<Uint8Array>;

const permanentCodes = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EIO', 'ESTALE']);
const chunkBytes = 256 * 1024;
const namePattern = /^(?<instance>.+)-(?<number>\d+)\.ndjson$/;

/** Numbers are padded so that names sort by age. */
export function formatSegmentName(instance: string, number: number): string {
  return `${instance}-${String(number).padStart(8, '0')}.ndjson`;
}

export function parseSegmentName(path: string): { instance: string; number: number } | undefined {
  const groups = namePattern.exec(basename(path))?.groups;
  return groups && { instance: groups['instance'] ?? '', number: Number(groups['number']) };
}

/** Returns the instance and the final name of an incomplete file (see `restore`). */
export function parsePartName(part: string): { instance: string; segment: string } | undefined {
  const segment = part.endsWith(createPartPath('')) ? part.slice(0, -createPartPath('').length) : '';
  const parsed = parseSegmentName(segment);
  return parsed && { instance: parsed.instance, segment };
}

/** A segment of a dead instance, in its file. Empty if another instance has already shipped it. */
export class LeftoverSegment implements Segment, Disposable {
  readonly path: string;
  readonly #disk: Disk;
  #file: number | undefined;

  private constructor(disk: Disk, path: string, file: number | undefined) {
    this.#disk = disk;
    this.path = path;
    this.#file = file;
  }

  /** @param isKeptOpen keeps the file open, so that no lines are lost if it is removed before it is shipped */
  static async open(disk: Disk, path: string, isKeptOpen: boolean): Promise<LeftoverSegment> {
    // If the file cannot be opened, `read` reports why.
    const opened = isKeptOpen ? await disk.run('open', path).catch(rethrowUnresponsive) : undefined;
    return new LeftoverSegment(disk, path, opened?.file);
  }

  read(): AsyncGenerator<string[]> {
    if (this.#file === undefined) return readSegment(this.#disk, this.path);
    return readLines(this.path, createFileReader(this.#disk, this.#file));
  }

  remove(): Promise<void> {
    return runOrPost(this.#disk, 'remove', this.path);
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) this.#disk.post('close', this.#file);
    this.#file = undefined;
  }
}

export function createFileReader(disk: Disk, file: number): ReadAt {
  return (position) => disk.run('read', file, position, chunkBytes);
}

/** Yields nothing if the file does not exist. */
export async function* readSegment(disk: Disk, path: string): AsyncGenerator<string[]> {
  try {
    yield* readClosedFile(disk, path);
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') throw error;
  }
}

/** @throws UnreadableSegment or DiskUnresponsive */
export async function* readClosedFile(disk: Disk, path: string): AsyncGenerator<string[]> {
  const { file } = await disk.run('open', path).catch((error: unknown) => throwUnreadable(path, error));
  try {
    yield* readLines(path, createFileReader(disk, file));
  } finally {
    disk.post('close', file);
  }
}

/** A line longer than the limit is split as well. */
export async function* readLines(path: string, readAt: ReadAt): AsyncGenerator<string[]> {
  let partialLine = '';
  for (let position = 0; ;) {
    const bytes = await readChunk(path, readAt, position);
    if (bytes.length === 0) break;
    position += bytes.length;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    const lines = (partialLine + text).split('\n');
    partialLine = lines.pop() ?? '';
    if (partialLine.length > bounds.journalLine) {
      lines.push(partialLine);
      partialLine = '';
    }
    yield lines;
  }
  if (parseJson(partialLine) !== undefined) yield [partialLine];
}

async function readChunk(path: string, readAt: ReadAt, position: number): Promise<Uint8Array> {
  try {
    return await readAt(position);
  } catch (error) {
    return throwUnreadable(path, error);
  }
}

function throwUnreadable(path: string, error: unknown): never {
  throw error instanceof DiskUnresponsive ? error : new UnreadableSegment(path, error);
}

function rethrowUnresponsive(error: unknown): undefined {
  if (error instanceof DiskUnresponsive) throw error;
}
