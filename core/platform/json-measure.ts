import { randomInt } from 'node:crypto';
import { bounds } from './bounds.ts';
import { maxJsonDepth } from './json.ts';
import { endOfString } from './json-scan.ts';

/** Characters up to which any text parses within one turn, and is not measured. */
const unmeasuredLength = 131_072;
const maxNameLength = 64; // longer names always count as new

/** Member lists of the objects in one text. The engine creates a hidden class for each new list. */
class Shapes {
  /** Hash per depth of the open object's members so far. Callers reject deeper texts. */
  readonly #open = new Int32Array(maxJsonDepth + 1);
  readonly #seen = new Int32Array(65_536);
  /** Random, so that clients cannot construct hash collisions. */
  readonly #seed = randomInt(2 ** 31);
  #text = 0;

  startText(): void {
    this.#text = (this.#text + 1) | 0;
  }

  openObject(depth: number): void {
    this.#open[depth] = this.#seed;
  }

  /** True if no earlier object had the same members up to this one. Hash collisions hide about one percent of ten thousand lists. */
  isNew(text: string, begin: number, end: number, depth: number): boolean {
    if (end - begin > maxNameLength || depth > maxJsonDepth) return true;
    let shape = this.#open[depth] as number;
    for (let index = begin; index < end; index++) shape = Math.imul(shape ^ text.charCodeAt(index), 0x01000193);
    // The end of a name is hashed too: "ab" and "c" differ from "a" and "bc".
    shape = Math.imul(shape ^ 0x22, 0x01000193);
    this.#open[depth] = shape;
    const slot = (shape ^ (shape >>> 16)) & 0xffff;
    if (this.#seen[slot] === this.#text) return false;
    this.#seen[slot] = this.#text;
    return true;
  }
}

const shapes = new Shapes();

/**
 * Finds the limit that a JSON text exceeds, such as `more than 100000 values`; undefined if the text can be parsed within one turn of the
 * event loop. Parsing time depends on the numbers of values, new object shapes and escapes, not on the length, because strings without
 * escapes are copied.
 *
 * Takes about a millisecond for 1 MB, and 40 ms for the worst text of 32 MB. Malformed text is measured up to its first error.
 *
 * @param length of the original, if `text` is its outline
 */
export function findExcess(text: string, maxValues: number, length = text.length): string | undefined {
  if (length <= unmeasuredLength) return undefined;
  const escapes = text.length > bounds.jsonEscapes ? new EscapeCounter(text) : undefined;
  shapes.startText();
  let [values, outside, newShapes, depth, nameBegin, nameEnd] = [0, 0, 0, 0, 0, 0];
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: // "
        nameBegin = index + 1;
        nameEnd = index = escapes === undefined ? endOfString(text, index) : escapes.endOf(index);
        if (escapes !== undefined && escapes.count > bounds.jsonEscapes)
          return `more than ${bounds.jsonEscapes} escaped characters`;
        continue;
      case 0x3a: // :
        if (shapes.isNew(text, nameBegin, nameEnd, depth) && ++newShapes > bounds.jsonShapes)
          return `more than ${bounds.jsonShapes} different members`;
        break;
      case 0x2c: // ,
        if (++values > maxValues) return `more than ${maxValues} values`;
        break;
      case 0x7b: // {
      case 0x5b: // [
        if (++values > maxValues) return `more than ${maxValues} values`;
        if (++depth <= maxJsonDepth) shapes.openObject(depth);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        if (depth > 0) depth--;
    }
    if (++outside > bounds.jsonOutsideStrings) return `more than ${bounds.jsonOutsideStrings} bytes outside of strings`;
  }
  return undefined;
}

/** Characters compared one by one before a search starts, because escapes come in runs. */
const stepwiseReach = 6;

class EscapeCounter {
  readonly #text: string;
  #backslash = -1;
  count = 0;

  constructor(text: string) {
    this.#text = text;
  }

  endOf(start: number): number {
    let end = this.#next('"', start + 1);
    let backslash = this.#backslash > start ? this.#backslash : this.#next('\\', start + 1);
    while (backslash < end && this.count <= bounds.jsonEscapes) {
      this.count++;
      if (backslash + 1 === end) end = this.#next('"', end + 1);
      backslash = this.#next('\\', backslash + 2);
    }
    this.#backslash = backslash;
    return end;
  }

  #next(char: string, from: number): number {
    const text = this.#text;
    const code = char.charCodeAt(0);
    for (let index = from; index < from + stepwiseReach; index++) if (text.charCodeAt(index) === code) return index;
    const at = text.indexOf(char, from + stepwiseReach);
    return at === -1 ? text.length : at;
  }
}
