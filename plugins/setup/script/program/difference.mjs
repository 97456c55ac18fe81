// In a dry run, prints the changes to a file, with three lines of context and secrets masked.

import { encode } from './machine.mjs';
import { maskKeys, maskLines } from './mask.mjs';
import { isWindows, paint, printable, run, printLine } from './run.mjs';

const contextLines = 3;
const maxTableCells = 1_000_000; // with more, all lines between the first and the last change count as replaced

export function printDifference(name, before, after) {
  const [old, fresh] = [splitLines(before), splitLines(after)];
  const changes = compareLines(old, fresh);
  const [oldMasked, freshMasked] = [maskLines(old.map(withoutLineEnd)), maskLines(fresh.map(withoutLineEnd))];
  printLine(`\n${paint('bold', `--- ${name}`)}`);
  for (const { from, to } of findHunks(changes)) {
    const part = changes.slice(from, to);
    const start = (side) => (part.find((change) => change[side] !== undefined)?.[side] ?? -1) + 1;
    const count = (side) => part.filter((change) => change[side] !== undefined).length;
    printLine(paint('dim', `@@ -${start('old')},${count('old')} +${start('fresh')},${count('fresh')} @@`));
    for (const change of part) {
      if (change.fresh === undefined) printChangedLine('-', oldMasked[change.old], old[change.old], 'red');
      else if (change.old === undefined) printChangedLine('+', freshMasked[change.fresh], fresh[change.fresh], 'green');
      else printChangedLine(' ', freshMasked[change.fresh], fresh[change.fresh]);
    }
  }
}

const withoutLineEnd = (line) => line.replace(/\r?\n?$/, '');

function printChangedLine(sign, masked, line, colour) {
  printLine(
    paint(colour, sign + masked.split('\t').map(printable).join('\t') + (/\r\n?$/.test(line) && !isWindows ? '?' : '')),
  );
  if (!line.endsWith('\n')) printLine('\\ No newline at end of file');
}

function splitLines(content = '') {
  return content.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function compareLines(old, fresh) {
  let first = 0;
  while (first < old.length && first < fresh.length && old[first] === fresh[first]) first += 1;
  let [oldEnd, freshEnd] = [old.length, fresh.length];
  while (oldEnd > first && freshEnd > first && old[oldEnd - 1] === fresh[freshEnd - 1])
    [oldEnd, freshEnd] = [oldEnd - 1, freshEnd - 1];
  // Indices of all lines before (`old`) and after (`fresh`), by the longest common subsequence.
  const changes = [];
  for (let index = 0; index < first; index += 1) changes.push({ old: index, fresh: index });
  let [i, j] = [first, first];
  if ((oldEnd - first) * (freshEnd - first) <= maxTableCells) {
    const lengths = measureSubsequences(old.slice(first, oldEnd), fresh.slice(first, freshEnd));
    while (i < oldEnd && j < freshEnd) {
      if (old[i] === fresh[j]) changes.push({ old: i++, fresh: j++ });
      else if (lengths[i - first + 1][j - first] >= lengths[i - first][j - first + 1]) changes.push({ old: i++ });
      else changes.push({ fresh: j++ });
    }
  }
  while (i < oldEnd) changes.push({ old: i++ });
  while (j < freshEnd) changes.push({ fresh: j++ });
  while (i < old.length) changes.push({ old: i++, fresh: j++ });
  return changes;
}

function measureSubsequences(old, fresh) {
  // Row i, column j: the length of the longest common subsequence of the lines from i and from j.
  const rows = Array.from({ length: old.length + 1 }, () => new Uint32Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1)
      rows[i][j] = old[i] === fresh[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
  }
  return rows;
}

function findHunks(changes) {
  const hunks = [];
  for (const [index, { old, fresh }] of changes.entries()) {
    if (old !== undefined && fresh !== undefined) continue;
    const last = hunks[hunks.length - 1];
    const to = Math.min(changes.length, index + contextLines + 1);
    if (last && index - contextLines <= last.to) last.to = to;
    else hunks.push({ from: Math.max(0, index - contextLines), to });
  }
  return hunks;
}

export function printSettings({ shown, format, wanted }) {
  printLine(
    `\n${paint('bold', `Put these settings into ${shown}`)} (${format}), in place of those that it has, with your API key for YOUR_KEY:`,
  );
  for (const line of wanted.trimEnd().split('\n'))
    printLine(`    ${maskKeys(line).split(encode(run.key)).join('YOUR_KEY')}`);
}
