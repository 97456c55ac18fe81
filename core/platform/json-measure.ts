import { randomInt } from 'node:crypto';
import { bounds } from './bounds.ts';
import { findStringEnd } from './json-scan.ts';
import { maxJsonDepth } from './json.ts';

const maxUnmeasuredLength = 131_072; // any text of up to this length parses within one turn of the event loop
const maxNameLength = 64; // an object with a longer name always counts as a new shape

/** Shapes (member lists) of the objects in one text. The engine creates a hidden class for each new shape. */
class Shapes {
  readonly #openShapes = new Int32Array(maxJsonDepth + 1); // hash of the open object's members so far, by depth
  readonly #textIdBySlot = new Int32Array(65_536); // text that last had a shape in the slot; ids save clearing the table for each text
  readonly #seed = randomInt(2 ** 31); // so that clients cannot construct hash collisions
  #textId = 0;

  startText(): void {
    this.#textId = (this.#textId + 1) | 0;
  }

  openObject(depth: number): void {
    this.#openShapes[depth] = this.#seed;
  }

  /**
   * Returns true if no earlier object had the same members up to this one. Hash collisions hide about one percent of ten thousand shapes.
   */
  addMember(text: string, start: number, end: number, depth: number): boolean {
    if (end - start > maxNameLength || depth > maxJsonDepth) return true;
    let shape = this.#openShapes[depth] as number;
    for (let index = start; index < end; index++) shape = Math.imul(shape ^ text.charCodeAt(index), 0x01000193);
    // The end of a name is hashed too: "ab" and "c" differ from "a" and "bc".
    shape = Math.imul(shape ^ 0x22, 0x01000193);
    this.#openShapes[depth] = shape;
    const slot = (shape ^ (shape >>> 16)) & 0xffff;
    if (this.#textIdBySlot[slot] === this.#textId) return false;
    this.#textIdBySlot[slot] = this.#textId;
    return true;
  }
}

const shapes = new Shapes();

/**
 * Finds a limit that a JSON text exceeds. A text within the limits can be parsed in one turn of the event loop. Parsing time depends on the
 * numbers of values, new object shapes and escapes, but not on the length, because strings without escapes are copied.
 *
 * Takes about a millisecond for 1 MB, and 40 ms for the worst text of 32 MB. Malformed text is measured up to its first error.
 *
 * @param length length of the original, if `text` is its outline
 * @returns a description such as `more than 100000 values`; undefined for a text within the limits
 */
export function findExcess(text: string, maxValues: number, length = text.length): string | undefined {
  if (length <= maxUnmeasuredLength) return undefined;
  const escapes = text.length > bounds.jsonEscapes ? new EscapeCounter(text) : undefined;
  shapes.startText();
  let values = 0;
  let bytesOutside = 0;
  let newShapes = 0;
  let depth = 0;
  let nameStart = 0;
  let nameEnd = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: // "
        nameStart = index + 1;
        nameEnd = index = escapes === undefined ? findStringEnd(text, index) : escapes.skipString(index);
        if (escapes !== undefined && escapes.count > bounds.jsonEscapes)
          return `more than ${bounds.jsonEscapes} escaped characters`;
        continue;
      case 0x3a: // :
        if (shapes.addMember(text, nameStart, nameEnd, depth) && ++newShapes > bounds.jsonShapes)
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
    if (++bytesOutside > bounds.jsonOutsideStrings)
      return `more than ${bounds.jsonOutsideStrings} bytes outside of strings`;
  }
  return undefined;
}

const stepwiseLength = 6; // characters compared one by one before `indexOf`, because escapes come in runs

class EscapeCounter {
  readonly #text: string;
  #backslash = -1;
  count = 0;

  constructor(text: string) {
    this.#text = text;
  }

  skipString(start: number): number {
    let end = this.#indexOf('"', start + 1);
    let backslash = this.#backslash > start ? this.#backslash : this.#indexOf('\\', start + 1);
    while (backslash < end && this.count <= bounds.jsonEscapes) {
      this.count++;
      if (backslash + 1 === end) end = this.#indexOf('"', end + 1);
      backslash = this.#indexOf('\\', backslash + 2);
    }
    this.#backslash = backslash;
    return end;
  }

  #indexOf(char: string, start: number): number {
    const text = this.#text;
    const code = char.charCodeAt(0);
    for (let index = start; index < start + stepwiseLength; index++) if (text.charCodeAt(index) === code) return index;
    const found = text.indexOf(char, start + stepwiseLength);
    return found === -1 ? text.length : found;
  }
}
