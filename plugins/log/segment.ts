import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { bounds } from '#core/bounds.ts';

/** A finished file of the journal. */
export interface Segment {
  readonly path: string;
  readonly bytes: number;
}

const chunkBytes = 256 * 1024;
const name = /^(?<instance>.+)-(?<number>\d+)\.ndjson$/;

/** The file name of a segment. Numbers are padded so that names sort by age. */
export function segmentName(instance: string, number: number): string {
  return `${instance}-${String(number).padStart(8, '0')}.ndjson`;
}

/** Instance and number of a segment; undefined for other files. */
export function parseSegmentName(path: string): { instance: string; number: number } | undefined {
  const groups = name.exec(basename(path))?.groups;
  return groups && { instance: groups.instance ?? '', number: Number(groups.number) };
}

/**
 * Reads the lines of a segment, some hundred at a time. A last line that a crash has truncated is left out; the `begin` line
 * of its request is there. Yields nothing when another instance has already shipped the segment.
 */
export async function* readSegment(path: string): AsyncGenerator<string[]> {
  await using file = await openIfPresent(path);
  if (file === undefined) return;
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let rest = '';
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, chunkBytes);
    if (bytesRead === 0) break;
    const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > bounds.journalLine) {
      lines.push(rest);
      rest = '';
    }
    yield lines;
  }
  if (isJson(rest)) yield [rest];
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
