// Parses a TOML file into statements with offsets, and the tables that they define; see settings.mjs.

import { isEmpty, memoize } from './common.mjs';
import { TomlReader } from './toml-values.mjs';

/**
 * A line `key = value` or `[header]`. `start` and `end` enclose its whole lines, `valueStart` and `valueEnd` its value. `keyStart` is the
 * offset of the key or header; `valueEnd` is also the end of a header.
 * @typedef {{start: number, end: number, keyStart: number, keys: string[], valueStart: number, valueEnd: number,
 *   value: string | undefined}} Statement
 */

const kinds = { value: 'value', array: 'list' };

class Node {
  members = new Map();
  entries = []; // the tables of an array

  /**
   * @param {'header' | 'implied' | 'dotted' | 'array' | 'value'} how what defined it: a header, only headers of inner tables, dotted
   *   keys, `[[header]]`, or a value
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

  get firstStatement() {
    // An implied table exists only through its inner tables.
    return this.statement ?? this.children[0].node.firstStatement;
  }

  findNode(name) {
    return this.members.get(name)?.node;
  }

  addMember(name, node) {
    this.members.set(name, { name, node });
    return node;
  }
}

export const scan = memoize((text) => {
  // TOML does not accept a lone CR as a line end, but a text of only whitespace cannot be misread.
  const reader = new TomlReader(isEmpty(text) ? '' : text);
  const root = new Node('header');
  let firstHeader = -1; // offset of the first line with a header
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
      addPair(reader, table, readPair(reader, start));
    }
  }
  return { text, root, firstHeader };
});

function isBlank(character) {
  return character === undefined || character === '#' || character === '\n' || character === '\r';
}

function readPair(reader, start) {
  const keyStart = reader.pos;
  const keys = reader.readKeys();
  if (!reader.takeText('=')) reader.refuse('An equals sign is missing.');
  reader.skipSpace();
  const valueStart = reader.pos;
  const value = reader.readValue();
  const valueEnd = reader.pos;
  reader.endLine();
  return { start, end: reader.pos, keyStart, keys, valueStart, valueEnd, value };
}

function readHeader(reader, start) {
  const keyStart = reader.pos;
  const isArray = reader.takeText('[[');
  if (!isArray) reader.pos += 1;
  const keys = reader.readKeys();
  if (!reader.takeText(isArray ? ']]' : ']')) reader.refuse('The table header does not end.');
  const valueEnd = reader.pos;
  reader.endLine();
  return { statement: { start, end: reader.pos, keyStart, keys, valueStart: keyStart, valueEnd }, isArray };
}

function findParent(reader, root, { keys, keyStart }) {
  let node = root;
  for (const key of keys.slice(0, -1)) {
    node = node.findNode(key) ?? node.addMember(key, new Node('implied'));
    if (node.how === 'value') reader.refuse('A part of the table name is a value elsewhere.', keyStart);
    if (node.how === 'array') node = node.entries[node.entries.length - 1].node;
  }
  return node;
}

function openTable(reader, root, statement) {
  const parent = findParent(reader, root, statement);
  const key = statement.keys[statement.keys.length - 1];
  const table = parent.findNode(key) ?? parent.addMember(key, new Node('implied'));
  if (table.how !== 'implied') refuseDuplicate(reader, statement);
  return Object.assign(table, { how: 'header', statement });
}

function openArray(reader, root, statement) {
  const parent = findParent(reader, root, statement);
  const key = statement.keys[statement.keys.length - 1];
  const array = parent.findNode(key) ?? parent.addMember(key, new Node('array', statement));
  if (array.how !== 'array') refuseDuplicate(reader, statement);
  const node = new Node('header', statement);
  // The keys that follow belong to the last table of the array.
  array.entries.push({ name: undefined, start: statement.keyStart, node });
  return node;
}

function addPair(reader, table, pair) {
  let node = table;
  for (const key of pair.keys.slice(0, -1)) {
    node = node.findNode(key) ?? node.addMember(key, new Node('dotted', pair));
    if (node.how !== 'dotted') refuseDuplicate(reader, pair);
  }
  const last = pair.keys[pair.keys.length - 1];
  if (node.findNode(last)) refuseDuplicate(reader, pair);
  node.addMember(last, new Node('value', pair));
}

function refuseDuplicate(reader, { keyStart }) {
  reader.refuse('The key or table is defined twice.', keyStart);
}
