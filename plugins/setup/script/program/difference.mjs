import { encode } from './machine.mjs';
// A file in the output of a dry run: the lines that differ, with three lines around them, and no secrets.
import { hideKeys, hideLines } from './mask.mjs';
import { isWindows, paint, printable, run, say } from './run.mjs';

const near = 3;
/**
 * More lines than this, multiplied, take too long to compare: then all between the first and last change is shown as replaced.
 */
const largestTable = 1_000_000;

export function showDifference(name, before, after) {
  const [old, fresh] = [splitLines(before), splitLines(after)];
  const changes = compare(old, fresh);
  const [oldShown, freshShown] = [hideLines(old.map(bare)), hideLines(fresh.map(bare))];
  say(`\n${paint('bold', `--- ${name}`)}`);
  for (const { from, to } of hunksOf(changes)) {
    const part = changes.slice(from, to);
    const start = (side) => (part.find((change) => change[side] !== undefined)?.[side] ?? -1) + 1;
    const count = (side) => part.filter((change) => change[side] !== undefined).length;
    say(paint('dim', `@@ -${start('old')},${count('old')} +${start('fresh')},${count('fresh')} @@`));
    for (const change of part) {
      if (change.fresh === undefined) showLine('-', oldShown[change.old], old[change.old], 'red');
      else if (change.old === undefined) showLine('+', freshShown[change.fresh], fresh[change.fresh], 'green');
      else showLine(' ', freshShown[change.fresh], fresh[change.fresh]);
    }
  }
}

const bare = (line) => line.replace(/\r?\n?$/, '');

function showLine(sign, shown, line, colour) {
  say(
    paint(colour, sign + shown.split('\t').map(printable).join('\t') + (/\r\n?$/.test(line) && !isWindows ? '?' : '')),
  );
  if (!line.endsWith('\n')) say('\\ No newline at end of file');
}

function splitLines(content = '') {
  return content.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** All lines, with their indices in the file before (old) and after (fresh), by their longest common subsequence. */
function compare(old, fresh) {
  let first = 0;
  while (first < old.length && first < fresh.length && old[first] === fresh[first]) first += 1;
  let [oldEnd, freshEnd] = [old.length, fresh.length];
  while (oldEnd > first && freshEnd > first && old[oldEnd - 1] === fresh[freshEnd - 1])
    [oldEnd, freshEnd] = [oldEnd - 1, freshEnd - 1];
  const changes = [];
  for (let index = 0; index < first; index += 1) changes.push({ old: index, fresh: index });
  let [i, j] = [first, first];
  if ((oldEnd - first) * (freshEnd - first) <= largestTable) {
    const lengths = measure(old.slice(first, oldEnd), fresh.slice(first, freshEnd));
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

/** Row i, column j: the length of the longest common subsequence of the lines from i and from j on. */
function measure(old, fresh) {
  const rows = Array.from({ length: old.length + 1 }, () => new Uint32Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1)
      rows[i][j] = old[i] === fresh[j] ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
  }
  return rows;
}

function hunksOf(changes) {
  const hunks = [];
  for (const [index, { old, fresh }] of changes.entries()) {
    if (old !== undefined && fresh !== undefined) continue;
    const last = hunks[hunks.length - 1];
    const to = Math.min(changes.length, index + near + 1);
    if (last && index - near <= last.to) last.to = to;
    else hunks.push({ from: Math.max(0, index - near), to });
  }
  return hunks;
}

/** Settings that a person must put into the planned file. */
export function printSettings({ shown, format, wanted }) {
  say(
    `\n${paint('bold', `Put these settings into ${shown}`)} (${format}), in place of those that it has, with your API key for YOUR_KEY:`,
  );
  for (const line of wanted.trimEnd().split('\n')) say(`    ${hideKeys(line).split(encode(run.key)).join('YOUR_KEY')}`);
}
