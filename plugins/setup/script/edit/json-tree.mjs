// Reads JSON with comments and trailing commas into a tree that knows where everything stands, and compares such trees. Entries of
// lists are told apart by their identity.
import { Reader, groupBy, refuse, memoize } from './common.mjs';

/**
 * @typedef {object} Node a value
 * @property {'object' | 'array' | 'string' | 'number' | 'literal'} kind
 * @property {number} start
 * @property {number} end
 * @property {string} value the parsed text of a string, the characters of a number or literal
 * @property {Child[]} children of an object or array
 * @property {number} tail in an object or array, the end of the last child, comma or comment
 *
 * @typedef {object} Child a member of an object, or an entry of an array
 * @property {number} gap where the whitespace in front of it begins
 * @property {boolean} startsLine whether it stands on another line than what is in front of it
 * @property {number} start
 * @property {string | undefined} name parsed; none in arrays
 * @property {string} colon what separates name and value
 * @property {Node} node
 * @property {number} end
 * @property {number} comma the offset of the comma behind it, or -1
 *
 * @typedef {object} Tree
 * @property {string} text
 * @property {Node | undefined} root none in a file of comments
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

  /** Skips whitespace and comments. */
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
    if (first === '{') return this.container('object', '}', depth);
    if (first === '[') return this.container('array', ']', depth);
    const start = this.pos;
    if (first === '"') return this.scalar('string', start, this.string());
    if (this.take(NUMBER)) return this.scalar('number', start);
    if (this.take(LITERAL)) return this.scalar('literal', start);
    return this.refuse('A value is missing or not valid.');
  }

  scalar(kind, start, value = this.text.slice(start, this.pos)) {
    return { kind, start, end: this.pos, value, children: [], tail: 0 };
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
    return { kind, start, end: this.pos, value: '', children, tail: this.gap };
  }

  child(kind, depth) {
    const { gap, hasBreak: startsLine, pos: start } = this;
    const name = kind === 'object' ? this.string() : undefined;
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

/**
 * The member of a name.
 *
 * @param node an object
 * @throws Refusal where two members have the name: which of them counts differs between programs
 */
export function memberOf(tree, node, name) {
  const [found, second] = node.children.filter((child) => child.name === name);
  if (second) refuse(tree.text, second.start, 'The key is there twice.');
  return found;
}

/** Whether two values are the same, however they are written. Objects with two members of one name equal nothing. */
export function isEqual(one, other) {
  return hasAll(one, other, true);
}

/**
 * Whether an object has all members of another, at every level: tools add members to what they find.
 *
 * @param isExact whether more members are a difference
 */
export function hasAll(node, wanted, isExact = false) {
  if (node.kind !== wanted.kind) return false;
  if (node.kind === 'number') return isSameNumber(node.value, wanted.value);
  if (node.kind === 'array') {
    const entries = node.children;
    return (
      entries.length === wanted.children.length &&
      wanted.children.every((entry, index) => {
        const own = entries[index];
        return own !== undefined && isEqual(own.node, entry.node);
      })
    );
  }
  if (node.kind !== 'object') return node.value === wanted.value || (isTime(node) && isTime(wanted));
  const members = new Map(node.children.map((child) => [child.name, child.node]));
  const names = new Set(wanted.children.map((child) => child.name));
  if (members.size < node.children.length || names.size < wanted.children.length) return false;
  if (isExact && members.size !== names.size) return false;
  return wanted.children.every((child) => {
    const own = members.get(child.name);
    return own !== undefined && hasAll(own, child.node, isExact);
  });
}

/** A time is as good as another one: tools put the time of their last change where settings need one. */
function isTime(node) {
  return node.kind === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(String(node.value));
}

/** Numbers beyond 2^53 lose digits when they are read, so that their characters are compared. */
function isSameNumber(one, other) {
  return one === other || (Number(one) === Number(other) && Math.abs(Number(one)) <= Number.MAX_SAFE_INTEGER);
}

/** @typedef {{ identity?: string[], at?: string, keep?: string, replaces?: boolean }} Options */
/** @typedef {{ child: Child, isSame: boolean }} Match an entry with all members of a wanted one, or only its identity */

/** Finds the entry of each wanted entry: one with all its members before one with the same identity, none twice. */
export function matchEntries(node, want, options) {
  const groups = groupBy(node.children, (child) => groupOf(child, options));
  const taken = new Set();
  const take = (entry, isSame) => {
    const group = groups.get(groupOf(entry, options)) || [];
    const fits = (own) => (isSame ? hasAll(own.node, entry.node) : isAlike(own, entry, options));
    const child = group.find((own) => !taken.has(own) && fits(own));
    if (child) taken.add(child);
    return child && { child, isSame };
  };
  const same = want.children.map((entry) => take(entry, true));
  return want.children.map((entry, index) => same[index] || take(entry, false));
}

/** The same text for entries with the same identity. */
function groupOf({ node }, { identity = [] }) {
  const values = identity.map((field) => {
    const member = node.children.find(({ name }) => name === field);
    return member && (member.node.kind === 'string' ? member.node.value : member.node.kind);
  });
  return JSON.stringify(values);
}

/** Whether two entries have the same identity. */
export function isAlike(child, entry, { identity = [] }) {
  return identity.every((field) => {
    const own = child.node.children.find((member) => member.name === field);
    const wanted = entry.node.children.find((member) => member.name === field);
    return own !== undefined && wanted !== undefined && isEqual(own.node, wanted.node);
  });
}

/** Whether the children of a wanted value are set one by one: objects, and lists of objects with an identity. */
export function isContainer(want, { identity = [] }) {
  if (want.kind === 'object') return true;
  return (
    identity.length > 0 &&
    want.children.length > 0 &&
    want.children.every(({ node }) => identity.every((field) => node.children.some(({ name }) => name === field)))
  );
}
