/*
 * Writes JSON without the middle of its long strings; see outline.ts for the purpose. AssemblyScript, compiled to scanner.wasm by
 * `npm run build:scanner`. Each step examines sixteen bytes of a string.
 *
 * Memory: a block of the text at offset 0, with room to read past its end, followed by the output.
 */
const output: usize = 131_072;

/** Bytes at the end of every block except the last one in which no token may start, because an escape could be incomplete. */
const lookahead: i32 = 16;
/** Strings of up to this many bytes, and all strings in the outermost levels, are written completely. */
const longest: i32 = 64;
const outermost: i32 = 2;
/** Maximum number of bytes that are written of other strings. */
const beginning: i32 = 32;
/** Distinguishes a cut string from any string that a reader looks for: `~cut`. */
const mark: u32 = 0x7475637e;

const quote: i32 = 0x22;
const backslash: i32 = 0x5c;

let depth: i32 = 0;
/** True if the block starts inside a long string. */
let isInside: bool = false;

/** Number of bytes written for the block. */
export let written: i32 = 0;
/** Number of bytes written after the last cut in the block; -1 if it has none. */
export let uncut: i32 = -1;
/** Number of escaped characters in the text so far. */
export let escapes: i32 = 0;

export function start(): void {
  depth = 0;
  isInside = false;
  escapes = 0;
}

/** @returns the number of bytes read, after which the next block must start; -1 if a string is invalid, or too long to be written completely */
export function shorten(length: i32, isLast: bool): i32 {
  const end = isLast ? length : length - lookahead;
  let out = output;
  let at: i32 = 0;
  uncut = -1;
  let cutAt: usize = 0;
  if (isInside) {
    at = endOfString(0, end);
    if (at < 0 || (isLast && at >= end)) return -1;
    written = 0;
    if (at >= end) return at;
    isInside = false;
    at++; // the closing quote was written with the cut
  }
  while (at < end) {
    const char = <i32>load<u8>(at++);
    store<u8>(out++, char);
    if (char === 0x7b || char === 0x5b) depth++;
    else if (char === 0x7d || char === 0x5d) depth--;
    if (char !== quote) continue;
    const close = endOfString(at, end);
    if (close < 0 || (isLast && close >= end)) return -1;
    const isKept = close - at <= longest || depth <= outermost;
    if (close >= end && isKept) {
      // The string is read again with the next block.
      written = <i32>(out - output) - 1;
      uncut = cutAt === 0 ? -1 : <i32>(out - cutAt) - 1;
      return at === 1 ? -1 : at - 1;
    }
    if (isKept) {
      memory.copy(out, at, close - at + 1);
      out += close - at + 1;
    } else cutAt = out = cut(at, out);
    if (close >= end) {
      isInside = true;
      at = close;
      break;
    }
    at = close + 1;
  }
  written = <i32>(out - output);
  if (cutAt !== 0) uncut = <i32>(out - cutAt);
  return at;
}

/** Writes the start of a string, up to the first escape or non-ASCII byte. @returns the offset after the output */
function cut(from: usize, to: usize): usize {
  let size: i32 = 0;
  for (; size < beginning; size++) {
    const char = <i32>load<u8>(from + size);
    if (char === backslash || char >= 0x80) break;
    store<u8>(to + size, char);
  }
  store<u32>(to + size, mark);
  store<u8>(to + size + 4, quote);
  return to + size + 5;
}

/** @returns the index of the closing quote; `end` or more if there is none before `end`; -1 for an invalid string */
function endOfString(from: i32, end: i32): i32 {
  let at = from;
  while (at < end) {
    const chars = v128.load(at);
    const isQuote = i8x16.eq(chars, i8x16.splat(0x22));
    const isBackslash = i8x16.eq(chars, i8x16.splat(0x5c));
    const isControl = i8x16.lt_u(chars, i8x16.splat(0x20));
    let found = i8x16.bitmask(v128.or(v128.or(isQuote, isBackslash), isControl));
    if (found === 0) {
      at += 16;
      continue;
    }
    const escaping = i8x16.bitmask(isBackslash);
    const escaped = escaping << 1;
    const isNewLine = i8x16.eq(chars, i8x16.splat(0x6e));
    const usual = i8x16.bitmask(v128.or(isQuote, isNewLine));
    const areUsual = (escaped & ~usual) === 0 && (escaped & escaping) === 0;
    if (areUsual) {
      escapes += popcnt(escaping);
      found &= ~(escaping | escaped);
      if (found === 0) {
        at += 16;
        continue;
      }
    }
    const place = at + ctz(found);
    if (place >= end) return end;
    const char = <i32>load<u8>(place);
    if (char !== backslash) return char === quote ? place : -1;
    const size = sizeOfEscape(place + 1);
    if (size === 0) return -1;
    escapes++;
    at = place + size;
  }
  return at;
}

/** @returns the number of bytes of an escape, including the backslash; 0 if it is not valid */
function sizeOfEscape(at: i32): i32 {
  const char = <i32>load<u8>(at);
  // The most frequent escapes first. A table would be slower.
  if (char === quote || char === 0x6e || char === backslash) return 2;
  if (char === 0x75) return isHex(at + 1) && isHex(at + 2) && isHex(at + 3) && isHex(at + 4) ? 6 : 0;
  return char === 0x2f || char === 0x62 || char === 0x66 || char === 0x72 || char === 0x74 ? 2 : 0;
}

function isHex(at: i32): bool {
  const char = load<u8>(at);
  return <u8>(char - 0x30) < 10 || <u8>((char | 0x20) - 0x61) < 6;
}
