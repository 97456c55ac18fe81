import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createZstdDecompress } from 'node:zlib';

/*
 * A backup file starts with `magic`, followed by a zstd stream of frames. A frame is a letter, its length (four bytes, big-endian) and its
 * content:
 *
 *   H  head: `BackupHead` as JSON
 *   J  start of a journal file: { name } as JSON; D frames with its bytes follow
 *   S  schema: `BackupSchema` as JSON
 *   T  start of a table: { name } as JSON; D frames with its rows in the text format of COPY follow
 *   E  end of the table: { rows } as JSON
 *   Q  sequences: name and last value, as JSON
 *   Z  end of the file: { sha256 } of all earlier frames, as JSON. A file without it is incomplete
 */

export const magic = Buffer.from('DAYPASS1');
const frameHeadBytes = 5; // the letter and the length
const maxFrameBytes = 16_777_216; // limits the allocation for a damaged file

type FrameType = 'H' | 'J' | 'D' | 'S' | 'T' | 'E' | 'Q' | 'Z';

export interface Frame {
  readonly type: FrameType;
  readonly content: Buffer;
}

export interface BackupHead {
  readonly format: 1;
  readonly version: string; // of the gateway that wrote the backup
  readonly created_at: string; // RFC 3339
}

export interface BackupSchema {
  readonly migrations: readonly string[]; // names of the applied migrations, in order
  readonly tables: readonly BackupTable[]; // referenced tables come first
}

/** A table or partition that contains rows. */
export interface BackupTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Parent and bound (in PostgreSQL's syntax) of a partition. */
  readonly partition?: { readonly of: string; readonly bound: string } | undefined;
}

export class DamagedBackup extends Error {
  override readonly name = 'DamagedBackup';
}

/** Serializes frames and appends the final Z frame. */
export async function* writeFrames(frames: AsyncIterable<Frame>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const { type, content } of frames) {
    const bytes = Buffer.concat([encodeFrameHead(type, content.length), content]);
    hash.update(bytes);
    yield bytes;
  }
  const end = createJsonFrame('Z', { sha256: hash.digest('hex') });
  yield Buffer.concat([encodeFrameHead(end.type, end.content.length), end.content]);
}

function encodeFrameHead(type: FrameType, length: number): Buffer {
  const head = Buffer.alloc(frameHeadBytes);
  head.write(type, 0, 'latin1');
  head.writeUInt32BE(length, 1);
  return head;
}

export function createJsonFrame(type: FrameType, value: unknown): Frame {
  return { type, content: Buffer.from(JSON.stringify(value)) };
}

export function parseFrameContent<T>({ content }: Frame): T {
  return JSON.parse(content.toString()) as T;
}

/**
 * Yields the frames of a file except the final one, which proves that all others are intact.
 *
 * @throws DamagedBackup after it has yielded the frames that precede the damage
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
      for (let frame = decodeFrame(buffered); frame !== undefined; frame = decodeFrame(buffered)) {
        const bytes = buffered.subarray(0, frameHeadBytes + frame.content.length);
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

function decodeFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < frameHeadBytes) return undefined;
  const length = bytes.readUInt32BE(1);
  if (length > maxFrameBytes) throw new DamagedBackup('the backup is damaged: a part of it is too long');
  const end = frameHeadBytes + length;
  if (bytes.length < end) return undefined;
  return { type: bytes.toString('latin1', 0, 1) as FrameType, content: bytes.subarray(frameHeadBytes, end) };
}

function requireHash(frame: Frame, actual: string): void {
  if (parseFrameContent<{ readonly sha256: string }>(frame).sha256 !== actual)
    throw new DamagedBackup('the backup is damaged: its checksum is wrong');
}
