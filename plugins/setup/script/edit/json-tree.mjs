// Reads JSON with comments and trailing commas into a tree that knows where everything stands, see settings.mjs.
import { Reader, memoize } from './common.mjs';

/**
 * @typedef {object} Node
 * @property {'map' | 'list' | 'string' | 'number' | 'literal' | 'null'} kind
 * @property {string} value
 * @property {Child[]} children
 * @property {number} start
 * @property {number} end
 * @property {number} tail in an object or array, the end of the last child, comma or comment
 * @property {Node | undefined} parent
 *
 * @typedef {object} Child
 * @property {number} gap where the whitespace in front of it begins
 * @property {boolean} startsLine whether it stands on another line than what is in front of it
 * @property {string | undefined} name
 * @property {string} colon what separates name and value
 * @property {Node} node
 * @property {number} end
 * @property {number} comma the offset of the comma behind it, or -1
 *
 * @typedef {object} Tree
 * @property {Set<number>} lineEnds where `//` comments end
 * @property {number} comment the offset of the first comment, or -1
 * @property {number} extraComma the offset of the first comma behind a last child, or -1
 */

const MAX_DEPTH = 200;
const WHITESPACE = /[ \t\r\n]*/y;
const LINE_COMMENT = /\/\/[^\r\n]*/y;
const BLOCK_COMMENT = /\/\*[^]*?\*\//y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
// Control characters end a chunk by not being listed.
const CHUNK = /[ !\u0023-\u005b\u005d-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

class JsonReader extends Reader {
  /** Where the whitespace in front of `pos` begins, and whether a line ended since the last value or separator. */
  gap = 0;
  hasBreak = false;
  lineEnds = new Set();
  comment = -1;
  extraComma = -1;

  file() {
    this.skip();
    const root = this.pos < this.text.length ? this.value(0) : undefined;
    this.skip();
    if (this.pos < this.text.length) this.refuse('The file continues after its value.');
    const { text, lineEnds, comment, extraComma } = this;
    return { text, root, lineEnds, comment, extraComma };
  }

  skip() {
    for (this.hasBreak = false; ;) {
      this.gap = this.pos;
      if (this.take(WHITESPACE).includes('\n')) this.hasBreak = true;
      if (this.text[this.pos] !== '/') return;
      if (this.comment === -1) this.comment = this.pos;
      if (this.take(LINE_COMMENT)) this.endLine();
      else if (!this.take(BLOCK_COMMENT)) this.refuse('The comment does not end.');
    }
  }

  /** A lone CR ends a `//` comment for some programs and not for others. */
  endLine() {
    if (this.text[this.pos] === '\r' && this.text[this.pos + 1] !== '\n') this.refuse('A CR stands without an LF.');
    this.lineEnds.add(this.pos);
  }

  value(depth) {
    if (depth > MAX_DEPTH) this.refuse('Values are nested too deeply.');
    const first = this.text[this.pos];
    if (first === '{') return this.container('map', '}', depth);
    if (first === '[') return this.container('list', ']', depth);
    const start = this.pos;
    if (first === '"') return this.scalar('string', start, valueOfString(this.string()));
    const number = this.take(NUMBER);
    if (number) return this.scalar('number', start, valueOfNumber(number));
    const literal = this.take(LITERAL);
    if (literal) return this.scalar(literal === 'null' ? 'null' : 'literal', start, literal);
    return this.refuse('A value is missing or not valid.');
  }

  scalar(kind, start, value) {
    return { kind, start, end: this.pos, value, children: [] };
  }

  container(kind, close, depth) {
    const start = this.pos++;
    const children = [];
    this.skip();
    while (this.text[this.pos] !== close) {
      const child = this.child(kind, depth + 1);
      children.push(child);
      this.skip();
      if (this.text[this.pos] === ',') {
        child.comma = this.pos++;
        this.skip();
      } else if (this.text[this.pos] !== close) this.refuse(`A comma or "${close}" is missing.`);
    }
    this.pos++;
    if (this.extraComma === -1) this.extraComma = children.at(-1)?.comma ?? -1;
    const node = { kind, start, end: this.pos, value: valueOfContainer(kind, children), children, tail: this.gap };
    for (const child of children) child.node.parent = node;
    return node;
  }

  child(kind, depth) {
    const { gap, hasBreak: startsLine, pos: start } = this;
    const name = kind === 'map' ? this.string() : undefined;
    const nameEnd = this.pos;
    if (name !== undefined) this.colon();
    const colon = this.text.slice(nameEnd, this.pos);
    const node = this.value(depth);
    return { gap, startsLine, start, name, colon, node, end: node.end, comma: -1 };
  }

  colon() {
    this.skip();
    if (!this.has(':')) this.refuse('A colon is missing.');
    this.skip();
  }

  string() {
    const start = this.pos;
    if (!this.has('"')) this.refuse('A name in double quotes is missing.');
    do this.take(CHUNK);
    while (this.take(ESCAPE));
    if (!this.has('"')) this.refuse('The string does not end, or is not escaped correctly.');
    return JSON.parse(this.text.slice(start, this.pos));
  }
}

/** @param text JSON, with comments and trailing commas @throws Refusal with the place of the first error */
export const parse = memoize((text) => new JsonReader(text).file());

/** Any time equals any other: tools write the time of their last change into such settings. */
function valueOfString(text) {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(text) ? 'time' : JSON.stringify(text);
}

/** Numbers beyond 2^53 lose digits when they are read, so that their characters are compared. */
function valueOfNumber(text) {
  return Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER ? String(Number(text)) : text;
}

/** Objects with two members of one name equal nothing. */
function valueOfContainer(kind, children) {
  const values = children.map(({ node }) => node.value);
  if (values.includes('?') || (kind === 'map' && new Set(children.map(({ name }) => name)).size < values.length))
    return '?';
  if (kind === 'list') return `[${values}]`;
  return `{${children.map(({ name, node }) => `${JSON.stringify(name)}:${node.value}`).sort()}}`;
}
