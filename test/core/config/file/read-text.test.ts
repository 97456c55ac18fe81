import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readText } from '#core/config/file/read-text.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-encoding-'));
  file = join(folder, 'gateway.yaml');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const text = 'service:\n  name: Café\n';
const bigEndian = (words: string) => Buffer.from(words, 'utf16le').swap16();

describe('a file in another encoding', () => {
  it.each([
    ['with its mark', Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['without a mark', Buffer.from(text, 'utf16le')],
    ['in the other byte order', bigEndian(`\uFEFF${text}`)],
    ['in the other byte order, without a mark', bigEndian(text)],
  ])('is refused as UTF-16 %s', async (_name, bytes) => {
    await writeFile(file, bytes);
    await expect(readText(file)).rejects.toThrow('gateway.yaml:1:1: is encoded as UTF-16; save the file as UTF-8');
  });

  it('is refused as Latin-1, with the place of the first such character', async () => {
    await writeFile(file, Buffer.from(text, 'latin1'));
    await expect(readText(file)).rejects.toThrow(
      'gateway.yaml:2:12: has the byte 0xE9, which is not UTF-8, as in files saved as Latin-1 or Windows-1252; save the file as UTF-8',
    );
  });

  it('is refused behind a replacement character, which is valid', async () => {
    await writeFile(file, Buffer.concat([Buffer.from('# \uFFFD\n# '), Buffer.from([0xff])]));
    await expect(readText(file)).rejects.toThrow('gateway.yaml:2:3: has the byte 0xFF');
  });
});

describe('a file in UTF-8', () => {
  it.each([
    ['with a byte order mark', `\uFEFF${text}`],
    ['without one', text],
  ])('is read %s', async (_name, written) => {
    await writeFile(file, written);
    await expect(readText(file)).resolves.toBe(text);
  });
});
