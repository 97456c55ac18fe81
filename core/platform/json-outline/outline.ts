import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bounds } from '../bounds.ts';
import { sumSizes } from '../memory/collected-bytes.ts';

/**
 * A JSON text without the middle of its long strings, which make up most of a prompt. Strings of up to 64 bytes, and those in the two
 * outermost levels, are complete; others are cut to 32 bytes, followed by a mark that distinguishes them from any short string. Everything
 * else is unchanged, so parsing takes a fraction of the time and reveals the same structure.
 */
interface Outline {
  readonly text: string;
  readonly uncutBytes: number; // bytes at the end of the text that are identical to the end of the original
  readonly escapes: number; // escaped characters in all strings of the original; a few per 64 KB are counted twice
}

/** Compiled from scanner.as by `npm run build:scanner`. */
export const scannerFile = join(import.meta.dirname, 'scanner.wasm');

const blockBytes = 65_536;
const outputOffset = 131_072; // where the scanner writes, see scanner.as

declare const WebAssembly: {
  readonly Module: new (bytes: Buffer) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

interface Scanner {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly written: { readonly value: number };
  readonly uncut: { readonly value: number };
  readonly escapes: { readonly value: number };
  start(): void;
  shorten(length: number, isLast: boolean): number; // bytes read; -1 if the text has no outline
}

let loadedScanner: { readonly scanner: Scanner; readonly bytes: Buffer } | undefined;

/** Values of an array in the second level of a JSON text, each followed by a comma. Their outline is created once and used in many texts. */
export interface OutlinedItems {
  /** Undefined if the bytes must be scanned together with the text that contains them. */
  readonly outline: ItemsOutline | undefined;
}

export interface ItemsOutline extends Outline {
  readonly size: number; // bytes of its text
}

/**
 * Creates the outline of a JSON text in pieces. Parsing the outline proves that the text is valid JSON in UTF-8, because it contains
 * everything except long strings, which the scanner has checked.
 *
 * @returns undefined if the whole text must be parsed, because it has an invalid string or a long one in the outermost levels, or its
 * outline exceeds `bounds.jsonOutline`
 */
export function createOutline(
  text: readonly Buffer[],
  outlinedPieces: ReadonlyMap<Buffer, OutlinedItems> = noOutlines,
): Outline | undefined {
  // Read before `start`, because the getter of an outline may use the scanner.
  const outlines = outlinedPieces.size === 0 ? [] : text.map((piece) => outlinedPieces.get(piece)?.outline);
  loadedScanner ??= loadScanner();
  loadedScanner.scanner.start();
  const joined = { text: '', uncutBytes: 0, escapes: 0 };
  for (let start = 0, end = 0; start < text.length; start = end) {
    const outline = outlines[start];
    end = outline === undefined ? findNextOutline(outlines, start, text.length) : start + 1;
    if (outline !== undefined) appendOutline(outline, joined);
    else if (!appendShortened(text.slice(start, end), joined)) return undefined;
    if (joined.text.length > bounds.jsonOutline) return undefined;
  }
  return { ...joined, escapes: joined.escapes + loadedScanner.scanner.escapes.value };
}

/** Creates the outline of JSON values, each followed by a comma. */
export function createItemsOutline(items: Buffer): ItemsOutline | undefined {
  const outline = createOutline([itemsPrefix, items, itemsSuffix]);
  if (outline === undefined) return undefined;
  const text = outline.text.slice(itemsPrefix.length, -itemsSuffix.length);
  const size = Buffer.byteLength(text);
  return { text, size, uncutBytes: Math.min(size, outline.uncutBytes - itemsSuffix.length), escapes: outline.escapes };
}

function findNextOutline(outlines: readonly unknown[], start: number, count: number): number {
  let end = start + 1;
  while (end < count && outlines[end] === undefined) end++;
  return end;
}

const noOutlines: ReadonlyMap<Buffer, OutlinedItems> = new Map();
const itemsPrefix = Buffer.from('{"":[');
const itemsSuffix = Buffer.from(']}');

type MutableOutline = { -readonly [Name in keyof Outline]: Outline[Name] };

function appendOutline({ text, size, uncutBytes, escapes }: ItemsOutline, target: MutableOutline): void {
  target.text += text;
  target.uncutBytes = uncutBytes === size ? target.uncutBytes + size : uncutBytes;
  target.escapes += escapes;
}

/** Returns false if the pieces, which must end outside strings, have no outline, or one over the limit. */
function appendShortened(text: readonly Buffer[], target: MutableOutline): boolean {
  if (loadedScanner === undefined) return false;
  const { scanner, bytes } = loadedScanner;
  let remainingBytes = sumSizes(text);
  let length = 0; // of the bytes that wait to be scanned
  for (const piece of text) {
    for (let offset = 0; offset < piece.length;) {
      const copiedBytes = piece.copy(bytes, length, offset, offset + blockBytes - length);
      offset += copiedBytes;
      length += copiedBytes;
      const isLast = length === remainingBytes;
      if (length < blockBytes && !isLast) continue;
      const scannedBytes = scanner.shorten(length, isLast);
      // Inside a long string, a block may end within a character, which is scanned again with the next block.
      const readBytes = isLast ? scannedBytes : scannedBytes - countIncompleteCharacterBytes(bytes, scannedBytes);
      if (readBytes <= 0 || !isUtf8(bytes.subarray(0, readBytes))) return false;
      remainingBytes -= readBytes;
      bytes.copyWithin(0, readBytes, length);
      length -= readBytes;
      // The output ends between characters.
      target.text += bytes.toString('utf8', outputOffset, outputOffset + scanner.written.value);
      if (target.text.length > bounds.jsonOutline) return false;
      target.uncutBytes = scanner.uncut.value === -1 ? target.uncutBytes + scanner.written.value : scanner.uncut.value;
    }
  }
  return true;
}

function countIncompleteCharacterBytes(bytes: Buffer, end: number): number {
  for (let size = 1; size <= Math.min(3, end); size++) {
    const byte = bytes[end - size] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return size < countCharacterBytes(byte) ? size : 0;
  }
  return 0;
}

function countCharacterBytes(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

function loadScanner(): { readonly scanner: Scanner; readonly bytes: Buffer } {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(scannerFile)));
  const scanner = instance.exports as Scanner;
  return { scanner, bytes: Buffer.from(scanner.memory.buffer) };
}
