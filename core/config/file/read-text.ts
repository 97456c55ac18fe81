import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { ConfigError, type Mistake } from './mistake.ts';

const mistakesByErrorCode: Readonly<Record<string, Pick<Mistake, 'wrong' | 'right'>>> = {
  ENOENT: { wrong: 'does not exist', right: 'pass another file with --config FILE' },
  EISDIR: { wrong: 'is a folder', right: 'pass a file with --config FILE' },
};

/**
 * Reads a UTF-8 file, without its byte order mark.
 *
 * @throws ConfigError if it cannot be read or has another encoding
 */
export async function readText(file: string): Promise<string> {
  return decodeUtf8(await readBytes(file), basename(file));
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const mistake = mistakesByErrorCode[String(code)] ?? {
      wrong: `cannot be read (${String(code)})`,
      right: 'give the gateway read permission',
    };
    throw new ConfigError([{ file, line: 0, column: 0, path: [], ...mistake }]);
  }
}

function decodeUtf8(bytes: Buffer, file: string): string {
  const right = 'save the file as UTF-8';
  // In UTF-16, every pair of bytes for an ASCII character contains a zero, even without a byte order mark.
  const isWide = /^(\xff\xfe|\xfe\xff|\0[^\0]|[^\0]\0)/s.test(bytes.toString('latin1', 0, 2));
  if (isWide) throw new ConfigError([{ file, line: 1, column: 1, path: [], wrong: 'is encoded as UTF-16', right }]);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const invalid = findInvalidByte(bytes);
    const byte = bytes[invalid.offset]?.toString(16).toUpperCase().padStart(2, '0');
    const wrong = `has the byte 0x${byte}, which is not UTF-8, as in files saved as Latin-1 or Windows-1252`;
    throw new ConfigError([{ file, line: invalid.line, column: invalid.column, path: [], wrong, right }]);
  }
}

function findInvalidByte(bytes: Buffer): { offset: number; line: number; column: number } {
  // The decoder only replaces an invalid byte with U+FFFD, which the file may also contain legitimately.
  const decoded = bytes.toString('utf8');
  for (let searchStart = 0; ;) {
    const index = decoded.indexOf('\uFFFD', searchStart);
    const precedingText = decoded.slice(0, index);
    const offset = Buffer.byteLength(precedingText);
    if (!bytes.subarray(offset, offset + 3).equals(Buffer.from('\uFFFD'))) {
      const lines = precedingText.split('\n');
      return { offset, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
    }
    searchStart = index + 1;
  }
}
