import { basename } from 'node:path';
import { bounds } from '#core/platform/bounds.ts';
import { parseJson } from '#core/platform/json.ts';
import { askOrPost, type Disk, DiskSilent } from './disk/contract.ts';
import { partOf } from './disk/files.ts';
import type { OpenFile } from './disk/operations.ts';

/** A part of the journal that is shipped and removed on its own. */
export interface Segment {
  /** Path of the file, which may be gone. */
  readonly path: string;
  /**
   * Reads the lines, some hundred at a time. A last line that a crash has truncated is left out; the `begin` line of its
   * request is still there.
   *
   * @throws UnreadableSegment
   */
  read(): AsyncGenerator<string[]>;
  /** Called once the database has its records. */
  remove(): Promise<void>;
}

/** The lines of a segment cannot be read: a fault of the disk, not of the database. A silent disk throws DiskSilent instead. */
export class UnreadableSegment extends Error {
  /** False if a later attempt may succeed, such as after running out of descriptors. */
  readonly isGone: boolean;

  constructor(path: string, cause: unknown) {
    super(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.isGone = goneCodes.has((cause as NodeJS.ErrnoException).code ?? '');
  }
}

type ReadAt = (position: number) => Uint8Array | Promise<Uint8Array>;

const goneCodes = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EIO', 'ESTALE']);
const chunkBytes = 256 * 1024;
const name = /^(?<instance>.+)-(?<number>\d+)\.ndjson$/;

/** The file name of a segment. Numbers are padded so that names sort by age. */
export function segmentName(instance: string, number: number): string {
  return `${instance}-${String(number).padStart(8, '0')}.ndjson`;
}

/** Instance and number of a segment; undefined for other files. */
export function parseSegmentName(path: string): { instance: string; number: number } | undefined {
  const groups = name.exec(basename(path))?.groups;
  return groups && { instance: groups['instance'] ?? '', number: Number(groups['number']) };
}

/** Instance and final segment of an incomplete file, see `restore`; undefined for other files. */
export function parsePartName(part: string): { instance: string; segment: string } | undefined {
  const segment = part.endsWith(partOf('')) ? part.slice(0, -partOf('').length) : '';
  const parsed = parseSegmentName(segment);
  return parsed && { instance: parsed.instance, segment };
}

/** The segment in a file of a dead instance. It is empty if another instance has already shipped it. */
export class LeftoverSegment implements Segment, Disposable {
  readonly path: string;
  readonly #disk: Disk;
  #file: number | undefined;

  private constructor(disk: Disk, path: string, file: number | undefined) {
    this.#disk = disk;
    this.path = path;
    this.#file = file;
  }

  /** @param isHeld keeps the file open, so that no lines are lost if it is removed before it is shipped */
  static async find(disk: Disk, path: string, isHeld: boolean): Promise<LeftoverSegment> {
    // If it cannot be opened, reading it reports the reason.
    const opened = isHeld ? await disk.ask('open', path).catch(unlessSilent) : undefined;
    return new LeftoverSegment(disk, path, opened?.file);
  }

  read(): AsyncGenerator<string[]> {
    if (this.#file === undefined) return readSegment(this.#disk, this.path);
    return readLines(this.path, readFrom(this.#disk, this.#file));
  }

  remove(): Promise<void> {
    return askOrPost(this.#disk, 'remove', this.path);
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) this.#disk.post('close', this.#file);
    this.#file = undefined;
  }
}

/** Reads from an open file. */
export function readFrom(disk: Disk, file: number): ReadAt {
  return (position) => disk.ask('read', file, position, chunkBytes);
}

/** Reads the lines of a file; none if it does not exist. */
export async function* readSegment(disk: Disk, path: string): AsyncGenerator<string[]> {
  const opened = await openToRead(disk, path).catch((error: unknown) => {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined;
    throw error;
  });
  if (opened === undefined) return;
  try {
    yield* readLines(path, readFrom(disk, opened.file));
  } finally {
    disk.post('close', opened.file);
  }
}

/** @throws UnreadableSegment; DiskSilent */
export async function openToRead(disk: Disk, path: string): Promise<OpenFile> {
  return disk.ask('open', path).catch((error: unknown) => explain(path, error));
}

/** Splits bytes into lines. A line over the bound is passed on in pieces. */
export async function* readLines(path: string, readAt: ReadAt): AsyncGenerator<string[]> {
  let rest = '';
  for (let position = 0; ;) {
    const bytes = await readOrExplain(path, readAt, position);
    if (bytes.length === 0) break;
    position += bytes.length;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > bounds.journalLine) {
      lines.push(rest);
      rest = '';
    }
    yield lines;
  }
  if (parseJson(rest) !== undefined) yield [rest];
}

async function readOrExplain(path: string, readAt: ReadAt, position: number): Promise<Uint8Array> {
  try {
    return await readAt(position);
  } catch (error) {
    return explain(path, error);
  }
}

function explain(path: string, error: unknown): never {
  throw error instanceof DiskSilent ? error : new UnreadableSegment(path, error);
}

function unlessSilent(error: unknown): undefined {
  if (error instanceof DiskSilent) throw error;
}
