import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createZstdDecompress } from 'node:zlib';

/*
 * A backup file begins with `magic`; a zstd stream of frames follows. A frame is a letter, its length (four bytes, big-endian) and
 * its content:
 *
 *   H  the head: `BackupHead` as JSON
 *   J  a file of the journal begins: { name } as JSON; D frames with its bytes follow
 *   S  the schema: `BackupSchema` as JSON
 *   T  a table begins: { name } as JSON; D frames follow with its rows, in the text format of COPY
 *   E  the table ends: { rows } as JSON
 *   Q  the sequences: name and last value, as JSON
 *   Z  the end: { sha256 } of all frames before, as JSON. A file without it is incomplete
 */

export const magic = Buffer.from('DAYPASS1');
const maxFrameBytes = 16_777_216; // limits allocation when a damaged file is read

type FrameType = 'H' | 'J' | 'D' | 'S' | 'T' | 'E' | 'Q' | 'Z';

export interface Frame {
  readonly type: FrameType;
  readonly content: Buffer;
}

export interface BackupHead {
  readonly format: 1;
  /** Version of the gateway that wrote the backup. */
  readonly version: string;
  /** RFC 3339. */
  readonly created_at: string;
}

/** Everything needed to create the tables. */
export interface BackupSchema {
  /** Names of the applied migrations, in order. */
  readonly migrations: readonly string[];
  /** In fill order: referenced tables come first. */
  readonly tables: readonly BackupTable[];
}

export interface BackupTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** For a partition: its parent, and its bound in PostgreSQL's syntax. */
  readonly partition?: { readonly of: string; readonly bound: string } | undefined;
}

/** The file is not a complete backup; the message has the reason. */
export class DamagedBackup extends Error {
  override readonly name = 'DamagedBackup';
}

/** Serializes frames, and appends the final Z frame. */
export async function* writeFrames(frames: AsyncIterable<Frame>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const { type, content } of frames) {
    const bytes = Buffer.concat([frameHead(type, content.length), content]);
    hash.update(bytes);
    yield bytes;
  }
  const end = jsonFrame('Z', { sha256: hash.digest('hex') });
  yield Buffer.concat([frameHead(end.type, end.content.length), end.content]);
}

function frameHead(type: FrameType, length: number): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeUInt32BE(length, 1);
  return head;
}

export function jsonFrame(type: FrameType, value: unknown): Frame {
  return { type, content: Buffer.from(JSON.stringify(value)) };
}

export function contentOf<T>({ content }: Frame): T {
  return JSON.parse(content.toString()) as T;
}

/**
 * Reads the frames of a file except the final one, which proves that all others are intact.
 *
 * @throws DamagedBackup after the frames before the damage
 */
export async function* readFrames(path: string): AsyncGenerator<Frame> {
  await requireMagic(path);
  const source = createReadStream(path, { start: magic.length });
  const stream = createZstdDecompress();
  source.on('error', (error) => stream.destroy(error)).pipe(stream);
  const hash = createHash('sha256');
  let buffered: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of stream) {
      buffered = buffered.length === 0 ? (chunk as Buffer) : Buffer.concat([buffered, chunk as Buffer]);
      for (let frame = takeFrame(buffered); frame !== undefined; frame = takeFrame(buffered)) {
        const bytes = buffered.subarray(0, 5 + frame.content.length);
        buffered = buffered.subarray(bytes.length);
        if (frame.type === 'Z') return requireHash(frame, hash.digest('hex'));
        hash.update(bytes);
        yield frame;
      }
    }
  } catch (error) {
    if (error instanceof DamagedBackup || !isStreamError(error)) throw error;
    throw new DamagedBackup(`${path} is damaged or incomplete (${error.code})`, { cause: error });
  } finally {
    source.destroy();
    stream.destroy();
  }
  throw new DamagedBackup(`${path} is incomplete: its end is missing`);
}

function isStreamError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  return error instanceof Error && 'code' in error && /^(Z_|ZSTD_|ERR_)/.test(String(error.code));
}

async function requireMagic(path: string): Promise<void> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0);
  if (bytesRead < magic.length || !buffer.equals(magic)) throw new DamagedBackup(`${path} is not a backup of Daypass`);
}

function takeFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 5) return undefined;
  const length = bytes.readUInt32BE(1);
  if (length > maxFrameBytes) throw new DamagedBackup('the backup is damaged: a part of it is too long');
  if (bytes.length < 5 + length) return undefined;
  return { type: bytes.toString('latin1', 0, 1) as FrameType, content: bytes.subarray(5, 5 + length) };
}

function requireHash(frame: Frame, actual: string): void {
  if (contentOf<{ readonly sha256: string }>(frame).sha256 !== actual)
    throw new DamagedBackup('the backup is damaged: its checksum is wrong');
}
