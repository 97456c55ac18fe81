// The statements of a TOML file and the tables they make, with their places in the text.
import { isEmpty, memoize } from './common.mjs';
import { TomlReader } from './toml-values.mjs';

/**
 * A line `key = value` or `[header]`. `start` and `end` are its whole lines; `keyStart` is where the key or header begins,
 * `valueStart` and `valueEnd` the value or the end of the header.
 * @typedef {{start: number, end: number, keyStart: number, keys: string[], valueStart: number, valueEnd: number,
 *   value: string | undefined}} Statement
 */

/**
 * `how` says what defined it: a header, headers of inner tables only, dotted keys, `[[header]]`, or a value.
 * @typedef {{how: 'header' | 'implied' | 'dotted' | 'array' | 'value', children: Map<string, Node>,
 *   statement: Statement | undefined, pairs: Statement[], value: string | undefined}} Node
 */

/**
 * @returns the tables with headers, without
 *   those in arrays; where the first line with a header of any kind starts, -1 without one
 */
export const scan = memoize(scanText);

function scanText(text) {
  // A lone CR is no line end in TOML, but a file of whitespace holds nothing to be misread.
  const reader = new TomlReader(isEmpty(text) ? '' : text);
  const root = newNode('header');
  const tables = [];
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
      if (!isArray) tables.push({ path: statement.keys, table });
      if (firstHeader < 0) firstHeader = start;
    } else {
      const pair = readPair(reader, start);
      define(reader, table, pair);
      table.pairs.push(pair);
    }
  }
  return { root, tables, firstHeader };
}

/**
 * The node at a path. Without one, `isBlocked` says that a value, an array or dotted keys stand on the path.
 *
 * @returns `last` is the innermost node that is there
 */
export function find(root, path) {
  let last = root;
  let isBlocked = false;
  for (const key of path) {
    const next = last.children.get(key);
    if (next === undefined) return { node: undefined, isBlocked, last };
    last = next;
    isBlocked = isBlocked || last.how === 'value' || last.how === 'array' || last.how === 'dotted';
  }
  return { node: last, isBlocked, last };
}

function isBlank(character) {
  return character === undefined || character === '#' || character === '\n' || character === '\r';
}

function newNode(how, statement) {
  return { how, children: new Map(), statement, pairs: [], value: how === 'value' ? statement.value : undefined };
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

/** The table that holds the last key of a header. */
function parentOf(reader, root, { keys, keyStart }) {
  let node = root;
  for (const key of keys.slice(0, -1)) {
    if (!node.children.has(key)) node.children.set(key, newNode('implied'));
    node = node.children.get(key);
    if (node.how === 'value') reader.refuse('A part of the table name is a value elsewhere.', keyStart);
    if (node.how === 'array') node = node.last;
  }
  return node;
}

function openTable(reader, root, statement) {
  const { children } = parentOf(reader, root, statement);
  const key = statement.keys[statement.keys.length - 1];
  const present = children.get(key);
  if (present !== undefined && present.how !== 'implied') refuseTwice(reader, statement);
  const table = present === undefined ? newNode('header') : present;
  table.how = 'header';
  table.statement = statement;
  children.set(key, table);
  return table;
}

/** An array has no children: what follows belongs to its last element. */
function openArray(reader, root, statement) {
  const { children } = parentOf(reader, root, statement);
  const key = statement.keys[statement.keys.length - 1];
  if (!children.has(key)) children.set(key, newNode('array', statement));
  const array = children.get(key);
  if (array.how !== 'array') refuseTwice(reader, statement);
  array.last = newNode('header', statement);
  return array.last;
}

function define(reader, table, pair) {
  let node = table;
  for (const key of pair.keys.slice(0, -1)) {
    if (!node.children.has(key)) node.children.set(key, newNode('dotted', pair));
    node = node.children.get(key);
    if (node.how !== 'dotted') refuseTwice(reader, pair);
  }
  const last = pair.keys[pair.keys.length - 1];
  if (node.children.has(last)) refuseTwice(reader, pair);
  node.children.set(last, newNode('value', pair));
}

function refuseTwice(reader, { keyStart }) {
  reader.refuse('The key or table is defined twice.', keyStart);
}
