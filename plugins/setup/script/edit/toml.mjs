// Settings in TOML files, as Codex has them. Only the bytes of our own settings change.
//
// Keys of the root go before the first table: below a header they would belong to that table. New tables go to the end.
import {
  applyEdits,
  restoreEmpty,
  fillEmpty,
  insertLines,
  isBlankAbove,
  isEmpty,
  lineEndOf,
  refuse,
  startOfLine,
  withLineEnds,
} from './common.mjs';
import { find, scan } from './toml-scan.mjs';

/**
 * The file with the wanted settings in it.
 *
 * @param current undefined when there is no file
 * @param wanted TOML with keys and `[tables]`
 * @throws Refusal when the file cannot be read exactly, or defines a wanted table in a way that it cannot be added to
 */
export function merge(current, wanted) {
  if (current === undefined || isEmpty(current)) return fillEmpty(current, wanted);
  const file = scan(current);
  const edits = [];
  const added = [];
  for (const { path, header, pairs } of tablesOf(wanted)) {
    const { node, isBlocked, last } = find(file.root, path);
    if (isBlocked)
      refuse(current, firstStatement(last).keyStart, `Nothing can be added to the table ${path.join('.')} here.`);
    const absent = pairs.filter((pair) => !find(node || newTable, pair.keys).node);
    edits.push(...pairs.filter((pair) => !absent.includes(pair)).flatMap((pair) => change(current, path, node, pair)));
    const lines = absent.map(({ line }) => line);
    if (node === undefined || node.how === 'implied') added.push(header + lines.join(''));
    else if (lines.length > 0) edits.push(insertion(current, file, node, lines));
  }
  return added.reduce(append, applyEdits(current, edits));
}

/**
 * The file without the wanted settings, where they have not been changed since.
 *
 * @param wanted what was merged
 * @param before the file before that, undefined when there was none
 * @returns `left` names the settings that others have changed
 * @throws Refusal when the file cannot be read exactly
 */
export function remove(current, wanted, before) {
  if (merge(before, wanted) === current) return { text: before === undefined ? '' : before, left: [] };
  const file = scan(current);
  const formerFile = scan(before === undefined ? '' : before);
  const edits = [];
  const left = [];
  const removed = new Set();
  for (const { path, value } of settingsOf(wanted)) {
    const { node, last } = find(file.root, path);
    if (node === undefined && last.how !== 'value' && last.how !== 'array') continue;
    const former = find(formerFile.root, path).node;
    if (node === undefined || node.value !== value) {
      left.push(path.join('.'));
    } else if (former === undefined || former.how !== 'value') {
      removed.add(node.statement);
      edits.push({ start: node.statement.start, end: node.statement.end, text: '' });
    } else if (former.value !== value) {
      const text = before.slice(former.statement.valueStart, former.statement.valueEnd);
      edits.push(replaceValue(node.statement, text));
    }
  }
  edits.push(
    ...removeHeaders(current, file, formerFile, wanted, removed, before),
    ...removeGap(current, file, formerFile, removed),
  );
  return { text: restoreEmpty(applyEdits(current, edits), before), left };
}

/** The names of the wanted settings that the file does not have, or not with these values. */
export function missing(current, wanted) {
  const { root } = scan(current === undefined ? '' : current);
  const isMissing = ({ path, value }) => {
    const { node } = find(root, path);
    return node === undefined || node.value !== value;
  };
  return settingsOf(wanted)
    .filter(isMissing)
    .map(({ path }) => path.join('.'));
}

const newTable = scan('').root;

/** The tables of the wanted text, with the text of each header and pair. */
function tablesOf(wanted) {
  const { root, tables } = scan(wanted);
  return [{ path: [], table: root }, ...tables].map(({ path, table }) => ({
    path,
    header: path.length > 0 ? `${wanted.slice(table.statement.keyStart, table.statement.valueEnd)}\n` : '',
    pairs: table.pairs.map(({ keys, keyStart, valueStart, valueEnd, value }) => ({
      keys,
      value,
      line: `${wanted.slice(keyStart, valueEnd)}\n`,
      text: wanted.slice(valueStart, valueEnd),
    })),
  }));
}

function settingsOf(wanted) {
  return tablesOf(wanted).flatMap(({ path, pairs }) =>
    pairs.map(({ keys, value }) => ({ path: [...path, ...keys], value })),
  );
}

/** The edits that give a present key its wanted value. */
function change(current, path, table, { keys, value, text }) {
  const { node } = find(table, keys);
  if (node.how !== 'value') {
    refuse(current, firstStatement(node).keyStart, `${[...path, ...keys].join('.')} is a table here, not a value.`);
  }
  return node.value === value ? [] : [replaceValue(node.statement, withLineEnds(text, lineEndOf(current)))];
}

function replaceValue({ valueStart, valueEnd }, text) {
  return { start: valueStart, end: valueEnd, text };
}

/** An implied table is in the file only by the tables inside. */
function firstStatement(node) {
  let first = node;
  while (first.statement === undefined) first = first.children.values().next().value;
  return first.statement;
}

/** Adds lines at the end of a present table, before the blank lines and comments that introduce the next one. */
function insertion(current, { firstHeader }, table, lines) {
  const last = table.pairs.length > 0 ? table.pairs[table.pairs.length - 1] : table.statement;
  if (last !== undefined) {
    const indent = /[ \t]*$/.exec(current.slice(last.start, last.keyStart))[0];
    return insertLines(current, last.end, lines.map((line) => indent + line).join(''));
  }
  if (firstHeader < 0) return insertLines(current, current.length, lines.join(''));
  return insertLines(current, introductionOf(current, firstHeader), `${lines.join('')}\n`);
}

/** Where the comments begin that stand directly above a header. A directive such as `#:schema` stays at the top. */
function introductionOf(text, header) {
  let start = header;
  while (start > 1) {
    const above = Math.max(startOfLine(text, start - 1), text.startsWith('\ufeff') ? 1 : 0);
    if (!/^[ \t]*#(?!:)/.test(text.slice(above, start))) break;
    start = above;
  }
  return start;
}

/** The text with a new table at its end, after a blank line. */
function append(text, table) {
  const lines = isBlankAbove(text, text.length) ? table : `\n${table}`;
  return text + insertLines(text, text.length, lines).text;
}

/** Removes our empty headers, each with the blank line above it: the first came without one where the file ended with one. */
function removeHeaders(current, file, formerFile, wanted, removed, before) {
  const hadBlank = before !== undefined && !isEmpty(before) && isBlankAbove(before, before.length);
  const ours = tablesOf(wanted).filter(({ path }) => {
    const { node } = find(formerFile.root, path);
    return path.length > 0 && (node === undefined || node.how === 'implied');
  });
  return ours.flatMap(({ path }, index) => {
    const { node } = find(file.root, path);
    if (node === undefined || node.how !== 'header') return [];
    if (node.pairs.some((pair) => !removed.has(pair))) return [];
    const { start, end } = node.statement;
    const hasBlank = !(hadBlank && index === 0) && start > 0 && isBlankAbove(current, start);
    return [{ start: hasBlank ? startOfLine(current, start - 1) : start, end, text: '' }];
  });
}

/** The blank line that came with the first keys of the root. */
function removeGap(current, { root }, formerFile, removed) {
  const came = formerFile.root.pairs.length === 0 && formerFile.firstHeader >= 0;
  if (!came || root.pairs.length === 0 || root.pairs.some((pair) => !removed.has(pair))) return [];
  const start = root.pairs[root.pairs.length - 1].end;
  const gap = /^[ \t]*\r?\n/.exec(current.slice(start, start + 200));
  return gap === null ? [] : [{ start, end: start + gap[0].length, text: '' }];
}
