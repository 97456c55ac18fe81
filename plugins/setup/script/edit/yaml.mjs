// Settings in YAML files: scalars of the root map, a list of maps under a key of the root, or a list as the root. Lines are
// changed or added; all others keep their bytes.
import { applyEdits, adaptLineEnds, restoreEmpty, fillEmpty, insertLines, isEmpty, refuse } from './common.mjs';
import { finderIn, introductionOf, lineAfter, linesOf, reindent, replaceItem } from './yaml-items.mjs';
import { scan } from './yaml-scan.mjs';

/**
 * @typedef {{identity?: string[], at?: string, replaces?: boolean}} Options `identity`: the fields that identify an entry of a
 *   list; `at`: `start` to add entries at the front of a list; `replaces`: changed entries are taken out as well
 */

/**
 * The file with the wanted settings in it.
 *
 * @param current undefined when there is no file
 * @param wanted YAML
 * @throws Refusal when the file cannot be read exactly, or has a setting in a form that cannot be changed safely
 */
export function merge(current, wanted, options = {}) {
  const want = readWanted(wanted, options);
  if (current === undefined || isEmpty(current)) return fillEmpty(current, wanted);
  const file = scan(current);
  if (file.root.kind !== 'null' && file.root.kind !== want.root.kind) {
    refuse(current, file.root.start, `The file is not a ${want.root.kind === 'map' ? 'map' : 'list'}.`);
  }
  if (want.root.kind === 'seq') {
    if (file.root.kind === 'null') return addLines(current, current, file, linesOf(wanted, want.root));
    return applyEdits(current, mergeItems(current, file.root, wanted, want.root, options));
  }
  const edits = [];
  let added = '';
  for (const entry of want.root.entries) {
    const present = entryOf(file, entry.key);
    refuseUnclear(current, file, present);
    if (present === undefined) added += linesOf(wanted, entry);
    else if (entry.node.kind === 'seq') edits.push(...mergeList(current, present, wanted, entry.node, options));
    else edits.push(...setScalar(current, present, wanted, entry));
  }
  return addLines(applyEdits(current, edits), current, file, added);
}

/**
 * The file without the wanted settings, where they have not been changed since.
 *
 * @param wanted what was merged
 * @param before the file before that, undefined when there was none
 * @returns `left` names the settings that others have changed
 * @throws Refusal when the file cannot be read exactly
 */
export function remove(current, wanted, before, options = {}) {
  if (merge(before, wanted, options) === current) return { text: before === undefined ? '' : before, left: [] };
  const [file, want, formerFile] = [scan(current), scan(wanted), scan(before === undefined ? '' : before)];
  const removal = { current, before, options, edits: [], left: [] };
  if (want.root.kind === 'seq') {
    removeItems(removal, file.root, want.root, formerFile.root, '');
  } else {
    for (const entry of want.root.entries) {
      const present = entryOf(file, entry.key);
      const former = entryOf(formerFile, entry.key);
      if (present === undefined) continue;
      if (entry.node.kind === 'seq') removeList(removal, present, entry, former);
      else removeScalar(removal, present, entry, former);
    }
  }
  return { text: restoreEmpty(applyEdits(current, removal.edits), before), left: removal.left };
}

/** The names of the wanted settings that the file does not have, or not with these values. */
export function missing(current, wanted, options = {}) {
  const [file, want] = [scan(current === undefined ? '' : current), scan(wanted)];
  if (want.root.kind === 'seq') return missingItems(file.root, want.root, options, '');
  return want.root.entries.flatMap(({ key, node }) => {
    const present = entryOf(file, key);
    if (node.kind === 'seq') return missingItems(present && present.node, node, options, key);
    return present !== undefined && !present.isOpaque && present.node.value === node.value ? [] : [key];
  });
}

/** Maps inside maps, and lists whose entries nothing identifies, are not among the settings that can be merged. */
function readWanted(wanted, { identity = [] }) {
  const want = scan(wanted);
  const nodes = want.root.kind === 'map' ? want.root.entries.map(({ node }) => node) : [want.root];
  for (const { kind, start } of nodes) {
    const isFit = (kind === 'scalar' && want.root.kind === 'map') || (kind === 'seq' && identity.length > 0);
    if (!isFit) refuse(wanted, start, 'This setting cannot be merged into YAML.');
  }
  return want;
}

function missingItems(node, want, options, key) {
  const items = node === undefined ? [] : node.items;
  const itemLike = finderIn(items, options);
  return want.items.flatMap((item, index) => (itemLike(item).isSame ? [] : [`${key}[${index}]`]));
}

function entryOf({ root }, key) {
  return root.entries.find((entry) => entry.key === key);
}

/** What merge keys, anchors, aliases and tags make of a value is not followed. */
function refuseUnclear(current, file, present) {
  const merged = entryOf(file, '<<');
  if (merged !== undefined) refuse(current, merged.start, 'A merge key is used here.');
  if (present === undefined) return;
  const { start, isOpaque, node, key } = present;
  if (isOpaque || node.isOpaque) refuse(current, start, `${key} has an anchor, an alias or a tag.`);
}

/** The text with settings added at the end, or at the front where a new line end would change the last value. */
function addLines(text, current, { root, end }, lines) {
  if (lines === '') return text;
  const isOpen = lastNode(root).isOpen && !text.endsWith('\n');
  return applyEdits(text, [insertLines(text, isOpen ? root.start : end + text.length - current.length, lines)]);
}

function lastNode(node) {
  let last = node;
  while (last.kind === 'map' || last.kind === 'seq') {
    last = last.kind === 'map' ? last.entries[last.entries.length - 1].node : last.items[last.items.length - 1];
  }
  return last;
}

/** The edits that give a scalar that is there its wanted value. */
function setScalar(current, { key, start, colonEnd, node }, wanted, entry) {
  if (node.value === entry.node.value) return [];
  const text = wanted.slice(entry.node.start, entry.node.end);
  if (node.kind === 'null') return [{ start: colonEnd, end: colonEnd, text: ` ${text}` }];
  if (node.kind !== 'scalar' && node.kind !== 'block') refuse(current, start, `${key} is a list or map here.`);
  return [{ start: node.start, end: node.end, text }];
}

/** The edits that put entries into a list under a key, which may be empty. */
function mergeList(current, { key, start, colonEnd, node }, wanted, want, options) {
  if (node.kind === 'seq') return mergeItems(current, node, wanted, want, options);
  if (node.value !== 'null' && node.value !== '[]') refuse(current, start, `${key} is not a list with dashes here.`);
  const gone = node.kind === 'null' ? [] : [{ start: colonEnd, end: node.end, text: '' }];
  const below = lineAfter(current, node.end);
  return [...gone, insertLines(current, below, want.items.map((item) => linesOf(wanted, item)).join(''))];
}

function mergeItems(current, list, wanted, want, options) {
  const edits = [];
  const added = [];
  const itemLike = finderIn(list.items, options);
  for (const item of want.items) {
    const lines = reindent(linesOf(wanted, item), want.indent, list.indent);
    const { found, isSame } = itemLike(item);
    if (found === undefined) added.push(lines);
    else if (!isSame) edits.push(replaceItem(current, found, lines));
  }
  if (added.length === 0) return edits;
  if (options.at === 'start') return [insertLines(current, introductionOf(current, list), added.join('')), ...edits];
  const last = lastNode(list);
  if (last.isOpen && !current.endsWith('\n')) refuse(current, last.start, 'The last value has no line end.');
  return [...edits, insertLines(current, lineAfter(current, list.end), added.join(''))];
}

function removeScalar({ current, before, edits, left }, present, entry, former) {
  if (present.isOpaque || present.node.value !== entry.node.value) {
    if (former === undefined || former.node.value !== present.node.value) left.push(entry.key);
  } else if (former === undefined) {
    edits.push({ start: present.lineStart, end: lineAfter(current, present.node.end), text: '' });
  } else if (former.node.value !== entry.node.value) {
    const start = former.node.kind === 'null' ? present.colonEnd : present.node.start;
    const text = adaptLineEnds(before.slice(former.node.start, former.node.end), before, current);
    edits.push({ start, end: present.node.end, text });
  }
}

function removeList(removal, present, entry, former) {
  const { current, before, edits } = removal;
  const { node } = present;
  if (node.kind !== 'seq') return;
  const count = removeItems(removal, node, entry.node, former && former.node, entry.key);
  if (count < node.items.length) return;
  const wasList = former !== undefined && former.node.kind === 'seq';
  if (former === undefined) {
    edits.push({ start: present.lineStart, end: lineAfter(current, present.colonEnd), text: '' });
  } else {
    const text = wasList ? ' []' : adaptLineEnds(before.slice(former.colonEnd, former.node.end), before, current);
    edits.push({ start: present.colonEnd, end: present.colonEnd, text });
  }
}

/**
 * Takes the wanted items out of a list, or puts the former ones back.
 *
 * @returns how many were taken out
 */
function removeItems({ current, before, options, edits, left }, list, want, formerList, key) {
  let count = 0;
  const itemLike = finderIn(list.items, options);
  const formerLike = finderIn(formerList === undefined ? [] : formerList.items, options);
  for (const [index, item] of want.items.entries()) {
    const { found, isSame } = itemLike(item);
    if (found === undefined) continue;
    const { found: former, isSame: wasSame } = formerLike(item);
    if (!isSame && (former === undefined || former.value !== found.value)) left.push(`${key}[${index}]`);
    if (former === undefined && (isSame || options.replaces)) {
      // With the members that were added to it since: they belong to a model that the file no longer has.
      count += 1;
      edits.push({ start: found.lineStart, end: lineAfter(current, found.end), text: '' });
    } else if (isSame && !wasSame) {
      edits.push(replaceItem(current, found, reindent(linesOf(before, former), formerList.indent, list.indent)));
    }
  }
  return count;
}
