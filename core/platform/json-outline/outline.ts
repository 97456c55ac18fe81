import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A JSON text without the middle of its long strings, which are most of a prompt. Strings of up to 64 bytes and those in the two
 * outermost levels are whole; of others, up to 32 bytes are there, and a mark that makes them another string than any short one.
 * All else is as it was, so that parsing it takes a small part of the time and says as much about the structure.
 */
export interface Outline {
  readonly text: string;
  /** Bytes at the end of the text that are those at the end of the original. */
  readonly uncut: number;
  /** Escaped characters in all strings of the original; a few for each 64 KB count twice. */
  readonly escapes: number;
}

/** Compiled from scanner.as by `npm run build:scanner`. */
export const scannerFile = join(import.meta.dirname, 'scanner.wasm');

/** Bytes that are given to the scanner at once, and where it writes, see there. */
const block = 65_536;
const output = 131_072;

/** What of it is used; its types belong to browsers. */
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
  /** @returns bytes read; -1 for what has no outline */
  shorten(length: number, isLast: boolean): number;
}

let loaded: { readonly scanner: Scanner; readonly bytes: Buffer } | undefined;

/**
 * The outline of a JSON text. Whoever parses it knows that the text is JSON in valid UTF-8: all of it but long strings is in the
 * outline, and those have been looked through.
 *
 * @returns undefined for a text with an invalid string, or a long one in the outermost levels: read all of it
 */
export function outlineOf(text: Buffer): Outline | undefined {
  if (!isUtf8(text)) return undefined;
  loaded ??= load();
  const { scanner, bytes } = loaded;
  scanner.start();
  let written = '';
  let uncut = 0;
  for (let offset = 0; offset < text.length;) {
    const length = Math.min(block, text.length - offset);
    text.copy(bytes, 0, offset, offset + length);
    const read = scanner.shorten(length, offset + length === text.length);
    if (read < 0) return undefined;
    offset += read;
    // A block ends between characters.
    written += bytes.toString('utf8', output, output + scanner.written.value);
    uncut = scanner.uncut.value === -1 ? uncut + scanner.written.value : scanner.uncut.value;
  }
  return { text: written, uncut, escapes: scanner.escapes.value };
}

function load(): { readonly scanner: Scanner; readonly bytes: Buffer } {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(scannerFile)));
  const scanner = instance.exports as Scanner;
  return { scanner, bytes: Buffer.from(scanner.memory.buffer) };
}
