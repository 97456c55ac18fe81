import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bounds } from '../bounds.ts';

/**
 * A JSON text without the middle of its long strings, which make up most of a prompt. Strings of up to 64 bytes, and those in the two
 * outermost levels, are complete; others are cut to 32 bytes and a mark that distinguishes them from any short string. Everything else is
 * unchanged, so parsing takes a fraction of the time and reveals the same structure.
 */
interface Outline {
  readonly text: string;
  /** Bytes at the end of the text that equal the end of the original. */
  readonly uncut: number;
  /** Escaped characters in all strings of the original; a few per 64 KB are counted twice. */
  readonly escapes: number;
}

/** Compiled from scanner.as by `npm run build:scanner`. */
export const scannerFile = join(import.meta.dirname, 'scanner.wasm');

/** Bytes that the scanner reads at once. */
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
  /** @returns bytes read; -1 if the text has no outline */
  shorten(length: number, isLast: boolean): number;
}

let loaded: { readonly scanner: Scanner; readonly bytes: Buffer } | undefined;

/** Values of an array in the second level of a JSON text, each followed by a comma, whose outline is made once and used in many texts. */
export interface OutlinedItems {
  /** Undefined if the bytes must be scanned together with the text that contains them. */
  readonly outline: ItemsOutline | undefined;
}

export interface ItemsOutline extends Outline {
  readonly size: number; // bytes of its text
}

/**
 * Returns the outline of a JSON text. Parsing it proves that the text is valid JSON in UTF-8: the outline contains everything except long
 * strings, which were scanned.
 *
 * @param text in any number of pieces
 * @param known pieces that already have an outline
 * @returns undefined for a text with an invalid string, with a long one in the outermost levels, or whose outline exceeds
 * `bounds.jsonOutline`: parse all of it
 */
export function outlineOf(
  text: readonly Buffer[],
  known: ReadonlyMap<Buffer, OutlinedItems> = noItems,
): Outline | undefined {
  // Before `start`, because creating an outline uses the scanner.
  const outlines = known.size === 0 ? [] : text.map((piece) => known.get(piece)?.outline);
  loaded ??= load();
  loaded.scanner.start();
  const whole = { text: '', uncut: 0, escapes: 0 };
  for (let begin = 0, end = 0; begin < text.length; begin = end) {
    const outline = outlines[begin];
    end = outline === undefined ? endOfUnknown(outlines, begin, text.length) : begin + 1;
    const isShort = outline === undefined ? shorten(text.slice(begin, end), whole) : append(outline, whole);
    if (!isShort || whole.text.length > bounds.jsonOutline) return undefined;
  }
  return { ...whole, escapes: whole.escapes + loaded.scanner.escapes.value };
}

/** Returns the outline of JSON values, each followed by a comma. */
export function outlineOfItems(items: Buffer): ItemsOutline | undefined {
  const outline = outlineOf([itemsOpening, items, itemsEnding]);
  if (outline === undefined) return undefined;
  const text = outline.text.slice(itemsOpening.length, -itemsEnding.length);
  const size = Buffer.byteLength(text);
  return { text, size, uncut: Math.min(size, outline.uncut - itemsEnding.length), escapes: outline.escapes };
}

function endOfUnknown(outlines: readonly unknown[], begin: number, last: number): number {
  let end = begin + 1;
  while (end < last && outlines[end] === undefined) end++;
  return end;
}

const noItems: ReadonlyMap<Buffer, OutlinedItems> = new Map();
const itemsOpening = Buffer.from('{"":[');
const itemsEnding = Buffer.from(']}');

type Growing = { -readonly [Name in keyof Outline]: Outline[Name] };

function append({ text, size, uncut, escapes }: ItemsOutline, to: Growing): true {
  to.text += text;
  to.uncut = uncut === size ? to.uncut + size : uncut;
  to.escapes += escapes;
  return true;
}

/**
 * Appends the outline of pieces that end outside strings.
 *
 * @returns false if they have noItems, or one over the limit
 */
function shorten(text: readonly Buffer[], to: Growing): boolean {
  if (loaded === undefined) return false;
  const { scanner, bytes } = loaded;
  const remaining = new Pieces(text);
  while (remaining.size > 0) {
    const length = remaining.copyTo(bytes, blockBytes);
    const isLast = length === remaining.size;
    const scanned = scanner.shorten(length, isLast);
    // Inside a long string, a block may end within a character, which is scanned again with the next block.
    const read = isLast ? scanned : scanned - cutCharacter(bytes, scanned);
    if (read <= 0 || !isUtf8(bytes.subarray(0, read))) return false;
    remaining.skip(read);
    // The output ends between characters.
    to.text += bytes.toString('utf8', outputOffset, outputOffset + scanner.written.value);
    if (to.text.length > bounds.jsonOutline) return false;
    to.uncut = scanner.uncut.value === -1 ? to.uncut + scanner.written.value : scanner.uncut.value;
  }
  return true;
}

class Pieces {
  readonly #pieces: readonly Buffer[];
  #index = 0;
  #offset = 0; // in the current piece
  size: number;

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces;
    this.size = pieces.reduce((sum, { length }) => sum + length, 0);
  }

  copyTo(target: Buffer, maxBytes: number): number {
    let copied = 0;
    for (let index = this.#index, offset = this.#offset; copied < maxBytes && index < this.#pieces.length; index++) {
      const piece = this.#pieces[index] as Buffer;
      copied += piece.copy(target, copied, offset, Math.min(piece.length, offset + maxBytes - copied));
      offset = 0;
    }
    return copied;
  }

  skip(count: number): void {
    this.size -= count;
    this.#offset += count;
    for (let piece = this.#pieces[this.#index]; piece !== undefined && this.#offset >= piece.length;) {
      this.#offset -= piece.length;
      piece = this.#pieces[++this.#index];
    }
  }
}

/** Number of bytes at the end that start an incomplete character. */
function cutCharacter(bytes: Buffer, end: number): number {
  for (let size = 1; size <= Math.min(3, end); size++) {
    const byte = bytes[end - size] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return size < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? size : 0;
  }
  return 0;
}

function load(): { readonly scanner: Scanner; readonly bytes: Buffer } {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(scannerFile)));
  const scanner = instance.exports as Scanner;
  return { scanner, bytes: Buffer.from(scanner.memory.buffer) };
}
