// Parses JSON with comments and trailing commas into a tree with offsets; see settings.mjs.

import { Reader, memoize } from './common.mjs';

/**
 * @typedef {object} Node
 * @property {'map' | 'list' | 'string' | 'number' | 'literal' | 'null'} kind
 * @property {string} value
 * @property {Child[]} children
 * @property {number} start
 * @property {number} end
 * @property {number} tail of an object or array: end of its last child, comma or comment
 * @property {Node | undefined} parent
 *
 * @typedef {object} Child
 * @property {number} gap start of the whitespace before it
 * @property {boolean} startsLine true if a line end precedes it
 * @property {string | undefined} name
 * @property {string} colon text between name and value
 * @property {Node} node
 * @property {number} end
 * @property {number} comma offset of the comma after it, or -1
 *
 * @typedef {object} Tree
 * @property {Set<number>} lineEnds offsets at which `//` comments end
 * @property {number} comment the offset of the first comment, or -1
 * @property {number} extraComma the offset of the first comma after a last child, or -1
 */

const MAX_DEPTH = 200;
const WHITESPACE = /[ \t\r\n]*/y;
const LINE_COMMENT = /\/\/[^\r\n]*/y;
const BLOCK_COMMENT = /\/\*[^]*?\*\//y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
// Excludes control characters, which strings must escape.
const CHUNK = /[ !\u0023-\u005b\u005d-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

class JsonReader extends Reader {
  gap = 0; // start of the whitespace before `pos`
  hasBreak = false; // true if a line has ended since the last value or separator
  lineEnds = new Set();
  comment = -1;
  extraComma = -1;

  readFile() {
    this.skipSpace();
    const root = this.pos < this.text.length ? this.readValue(0) : undefined;
    this.skipSpace();
    if (this.pos < this.text.length) this.refuse('The file continues after its value.');
    const { text, lineEnds, comment, extraComma } = this;
    return { text, root, lineEnds, comment, extraComma };
  }

  skipSpace() {
    for (this.hasBreak = false; ;) {
      this.gap = this.pos;
      if (this.take(WHITESPACE).includes('\n')) this.hasBreak = true;
      if (this.text[this.pos] !== '/') return;
      if (this.comment === -1) this.comment = this.pos;
      if (this.take(LINE_COMMENT)) this.endLine();
      else if (!this.take(BLOCK_COMMENT)) this.refuse('The comment does not end.');
    }
  }

  endLine() {
    // Some programs end a `//` comment at a lone CR, and others do not.
    if (this.text[this.pos] === '\r' && this.text[this.pos + 1] !== '\n') this.refuse('A CR stands without an LF.');
    this.lineEnds.add(this.pos);
  }

  readValue(depth) {
    if (depth > MAX_DEPTH) this.refuse('Values are nested too deeply.');
    const first = this.text[this.pos];
    if (first === '{') return this.readContainer('map', '}', depth);
    if (first === '[') return this.readContainer('list', ']', depth);
    const start = this.pos;
    if (first === '"') return this.createScalar('string', start, comparableString(this.readString()));
    const number = this.take(NUMBER);
    if (number) return this.createScalar('number', start, comparableNumber(number));
    const literal = this.take(LITERAL);
    if (literal) return this.createScalar(literal === 'null' ? 'null' : 'literal', start, literal);
    return this.refuse('A value is missing or not valid.');
  }

  createScalar(kind, start, value) {
    return { kind, start, end: this.pos, value, children: [] };
  }

  readContainer(kind, close, depth) {
    const start = this.pos++;
    const children = [];
    this.skipSpace();
    while (this.text[this.pos] !== close) {
      const child = this.readChild(kind, depth + 1);
      children.push(child);
      this.skipSpace();
      if (this.text[this.pos] === ',') {
        child.comma = this.pos++;
        this.skipSpace();
      } else if (this.text[this.pos] !== close) this.refuse(`A comma or "${close}" is missing.`);
    }
    this.pos++;
    if (this.extraComma === -1) this.extraComma = children.at(-1)?.comma ?? -1;
    const node = { kind, start, end: this.pos, value: comparableContainer(kind, children), children, tail: this.gap };
    for (const child of children) child.node.parent = node;
    return node;
  }

  readChild(kind, depth) {
    const { gap, hasBreak: startsLine, pos: start } = this;
    const name = kind === 'map' ? this.readString() : undefined;
    const nameEnd = this.pos;
    if (name !== undefined) this.readColon();
    const colon = this.text.slice(nameEnd, this.pos);
    const node = this.readValue(depth);
    return { gap, startsLine, start, name, colon, node, end: node.end, comma: -1 };
  }

  readColon() {
    this.skipSpace();
    if (!this.takeText(':')) this.refuse('A colon is missing.');
    this.skipSpace();
  }

  readString() {
    const start = this.pos;
    if (!this.takeText('"')) this.refuse('A name in double quotes is missing.');
    do this.take(CHUNK);
    while (this.take(ESCAPE));
    if (!this.takeText('"')) this.refuse('The string does not end, or is not escaped correctly.');
    return JSON.parse(this.text.slice(start, this.pos));
  }
}

/** @throws Refusal with line and column of the first error */
export const parse = memoize((text) => new JsonReader(text).readFile());

function comparableString(text) {
  // Tools update timestamps, so all of them count as equal.
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(text) ? 'time' : JSON.stringify(text);
}

function comparableNumber(text) {
  // Beyond 2^53, numbers lose digits when they are parsed.
  return Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER ? String(Number(text)) : text;
}

function comparableContainer(kind, children) {
  const values = children.map(({ node }) => node.value);
  // An object with a duplicate name equals nothing.
  if (values.includes('?') || (kind === 'map' && new Set(children.map(({ name }) => name)).size < values.length))
    return '?';
  if (kind === 'list') return `[${values}]`;
  return `{${children.map(({ name, node }) => `${JSON.stringify(name)}:${node.value}`).sort()}}`;
}
