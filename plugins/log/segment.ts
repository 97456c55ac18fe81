import { closeSync, openSync, read as readFile } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { bounds } from '#core/platform/bounds.ts';
import { parseJson } from '#core/platform/json.ts';

/** A part of the journal that is shipped and removed on its own. */
export interface Segment {
  /** Its file, which may be gone. */
  readonly path: string;
  /**
   * Reads its lines, some hundred at a time. A last line that a crash has truncated is left out; the `begin` line of its
   * request is there.
   *
   * @throws UnreadableSegment
   */
  read(): AsyncGenerator<string[]>;
  /** Called once the database has its records. */
  remove(): Promise<void>;
}

/** The lines of a segment cannot be read: a fault of the disk, not of the database. */
export class UnreadableSegment extends Error {
  /** False when a later attempt may succeed, such as after running out of descriptors. */
  readonly isGone: boolean;

  constructor(path: string, cause: unknown) {
    super(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.isGone = goneCodes.has((cause as NodeJS.ErrnoException).code ?? '');
  }
}

/** Reads bytes from a position on; 0 at the end. */
export type ReadAt = (buffer: Buffer, position: number) => number | Promise<number>;

const readAsync = promisify(readFile);
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

/** The segment in a file of a dead instance. It is empty when another instance has already shipped it. */
export class LeftoverSegment implements Segment, Disposable {
  readonly path: string;
  #file: number | undefined;

  /** @param isHeld keeps the file open, so that nothing is lost when it is removed before it is shipped */
  constructor(path: string, isHeld: boolean) {
    this.path = path;
    if (isHeld) this.#file = openNow(path);
  }

  read(): AsyncGenerator<string[]> {
    return this.#file === undefined ? readSegment(this.path) : readLines(this.path, readFrom(this.#file));
  }

  remove(): Promise<void> {
    return rm(this.path, { force: true });
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** Undefined when it cannot be opened; reading it reports the reason. */
function openNow(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

/** Reads from an open file. */
export function readFrom(file: number): ReadAt {
  return async (buffer, position) => (await readAsync(file, buffer, 0, buffer.length, position)).bytesRead;
}

/** Reads the lines of a file; none when it does not exist. */
export async function* readSegment(path: string): AsyncGenerator<string[]> {
  await using file = await openIfPresent(path);
  if (file === undefined) return;
  yield* readLines(path, async (buffer, position) => {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    return bytesRead;
  });
}

/** Splits bytes into lines. A line over the bound is passed on in pieces. */
export async function* readLines(path: string, readAt: ReadAt): AsyncGenerator<string[]> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let rest = '';
  for (let position = 0; ;) {
    const bytesRead = await readOrExplain(path, readAt, buffer, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > bounds.journalLine) {
      lines.push(rest);
      rest = '';
    }
    yield lines;
  }
  if (parseJson(rest) !== undefined) yield [rest];
}

async function readOrExplain(path: string, readAt: ReadAt, buffer: Buffer, position: number): Promise<number> {
  try {
    return await readAt(buffer, position);
  } catch (error) {
    throw new UnreadableSegment(path, error);
  }
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UnreadableSegment(path, error);
  }
}
