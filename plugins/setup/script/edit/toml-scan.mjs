// The statements of a TOML file and the tables they make, with their places in the text, see settings.mjs.
import { isEmpty, memoize } from './common.mjs';
import { TomlReader } from './toml-values.mjs';

/**
 * A line `key = value` or `[header]`. `start` and `end` are its whole lines; `keyStart` is where the key or header begins,
 * `valueStart` and `valueEnd` the value or the end of the header.
 * @typedef {{start: number, end: number, keyStart: number, keys: string[], valueStart: number, valueEnd: number,
 *   value: string | undefined}} Statement
 */

const kinds = { value: 'value', array: 'list' };

/** A value, an array of tables (`array`), or a table: `how` says what defined it. */
class Node {
  members = new Map();
  /** The tables of an array. */
  entries = [];

  /**
   * @param {'header' | 'implied' | 'dotted' | 'array' | 'value'} how a header, headers of inner tables only, dotted keys,
   *   `[[header]]`, or a value
   * @param {Statement} [statement]
   */
  constructor(how, statement) {
    Object.assign(this, { how, statement });
    this.kind = kinds[how] ?? 'map';
    this.value = (how === 'value' && statement.value) || '?';
  }

  get children() {
    return [...this.members.values(), ...this.entries];
  }

  /** Where the first statement is that made it. An implied table is in the file only by the tables inside. */
  get first() {
    return this.statement ?? this.children[0].node.first;
  }

  inner(name) {
    return this.members.get(name)?.node;
  }

  put(name, node) {
    this.members.set(name, { name, node });
    return node;
  }
}

/** @returns `firstHeader` is where the first line with a header of any kind starts, -1 without one */
export const scan = memoize((text) => {
  // A lone CR is no line end in TOML, but a file of whitespace holds nothing to be misread.
  const reader = new TomlReader(isEmpty(text) ? '' : text);
  const root = new Node('header');
  let firstHeader = -1;
  let table = root;
  while (reader.pos < reader.text.length) {
    const start = reader.pos;
    reader.skipSpace();
    if (isBlank(text[reader.pos])) {
      reader.endLine();
    } else if (text[reader.pos] === '[') {
      const { statement, isArray } = readHeader(reader, start);
      table = isArray ? openArray(reader, root, statement) : openTable(reader, root, statement);
      if (firstHeader < 0) firstHeader = start;
    } else {
      define(reader, table, readPair(reader, start));
    }
  }
  return { text, root, firstHeader };
});

function isBlank(character) {
  return character === undefined || character === '#' || character === '\n' || character === '\r';
}

function readPair(reader, start) {
  const keyStart = reader.pos;
  const keys = reader.keys();
  if (!reader.has('=')) reader.refuse('An equals sign is missing.');
  reader.skipSpace();
  const valueStart = reader.pos;
  const value = reader.value();
  const valueEnd = reader.pos;
  reader.endLine();
  return { start, end: reader.pos, keyStart, keys, valueStart, valueEnd, value };
}

function readHeader(reader, start) {
  const keyStart = reader.pos;
  const isArray = reader.has('[[');
  if (!isArray) reader.pos += 1;
  const keys = reader.keys();
  if (!reader.has(isArray ? ']]' : ']')) reader.refuse('The table header does not end.');
  const valueEnd = reader.pos;
  reader.endLine();
  return { statement: { start, end: reader.pos, keyStart, keys, valueStart: keyStart, valueEnd }, isArray };
}

function parentOf(reader, root, { keys, keyStart }) {
  let node = root;
  for (const key of keys.slice(0, -1)) {
    node = node.inner(key) ?? node.put(key, new Node('implied'));
    if (node.how === 'value') reader.refuse('A part of the table name is a value elsewhere.', keyStart);
    if (node.how === 'array') node = node.entries[node.entries.length - 1].node;
  }
  return node;
}

function openTable(reader, root, statement) {
  const parent = parentOf(reader, root, statement);
  const key = statement.keys[statement.keys.length - 1];
  const table = parent.inner(key) ?? parent.put(key, new Node('implied'));
  if (table.how !== 'implied') refuseTwice(reader, statement);
  return Object.assign(table, { how: 'header', statement });
}

/** Keys that follow belong to the last table of the array. */
function openArray(reader, root, statement) {
  const parent = parentOf(reader, root, statement);
  const key = statement.keys[statement.keys.length - 1];
  const array = parent.inner(key) ?? parent.put(key, new Node('array', statement));
  if (array.how !== 'array') refuseTwice(reader, statement);
  const node = new Node('header', statement);
  array.entries.push({ name: undefined, start: statement.keyStart, node });
  return node;
}

function define(reader, table, pair) {
  let node = table;
  for (const key of pair.keys.slice(0, -1)) {
    node = node.inner(key) ?? node.put(key, new Node('dotted', pair));
    if (node.how !== 'dotted') refuseTwice(reader, pair);
  }
  const last = pair.keys[pair.keys.length - 1];
  if (node.inner(last)) refuseTwice(reader, pair);
  node.put(last, new Node('value', pair));
}

function refuseTwice(reader, { keyStart }) {
  reader.refuse('The key or table is defined twice.', keyStart);
}
