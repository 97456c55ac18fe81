// Items of a list in a YAML file: which is which, and their lines.
import { groupBy, lineEndOf, startOfLine, withLineEnds } from './common.mjs';

/** Finds the item that has all the members of a wanted one, otherwise the one with the same identity. */
export function finderIn(items, { identity = [] }) {
  const isClear = (item) => identity.length > 0 && identity.every((field) => fieldOf(item, field) !== undefined);
  const groupOf = (item) => JSON.stringify(identity.map((field) => fieldOf(item, field)));
  const groups = groupBy(items.filter(isClear), groupOf);
  const values = groupBy(items, ({ value }) => value);
  return (want) => {
    const alike = isClear(want) ? groups.get(groupOf(want)) || [] : [];
    const equal = want.value === '?' ? [] : values.get(want.value) || [];
    const larger = (isClear(want) ? alike : items).filter((item) => hasMembers(item, want));
    const [same] = [...equal.slice(0, 1), ...larger.slice(0, 1)].sort((one, other) => one.start - other.start);
    return { found: same || alike[0], isSame: same !== undefined };
  };
}

function hasMembers(item, want) {
  if (item.kind !== 'map' || want.kind !== 'map') return false;
  return want.entries.every(({ key, node }) => fieldOf(item, key) === node.value);
}

/** The value of a field, undefined for what is not read in full. */
function fieldOf({ entries }, field) {
  const entry = entries.find(({ key }) => key === field);
  return entry === undefined || entry.isOpaque || entry.node.value === '?' ? undefined : entry.node.value;
}

/** Where the comments begin that stand directly above the first item. */
export function introductionOf(text, { items: [{ lineStart }] }) {
  let start = lineStart;
  while (start > 0 && /^\ufeff?[ \t]*#/.test(text.slice(startOfLine(text, start - 1), start))) {
    start = Math.max(startOfLine(text, start - 1), text.startsWith('\ufeff') ? 1 : 0);
  }
  return start;
}

/** The lines of an item replaced; its last line may have no end. */
export function replaceItem(current, { lineStart, end }, lines) {
  const after = lineAfter(current, end);
  return { start: lineStart, end: after, text: withLineEnds(lines, lineEndOf(current)) };
}

/** The whole lines of an entry or item. */
export function linesOf(text, { lineStart, node, end = node.end }) {
  const lines = text.slice(lineStart, lineAfter(text, end));
  return lines.endsWith('\n') ? lines : `${lines}\n`;
}

/** Where the line behind an offset begins. */
export function lineAfter(text, offset) {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}

/** Lines with a list's dash in another column. */
export function reindent(lines, from, to) {
  if (from === to) return lines;
  if (from < to) return lines.replace(/^(?=[^\r\n])/gm, ' '.repeat(to - from));
  return lines.replace(new RegExp(`^ {1,${from - to}}`, 'gm'), '');
}
