// Settings in YAML files: scalars of the root map, a list of maps under a key of the root, or a list as the root. Lines are
// changed or added; all others keep their bytes.
import { Edits, fillEmpty, introductionOf, isEmpty, linesAt, lineEndOf, refuse, withLineEnds } from './common.mjs';
import { editorOf } from './settings.mjs';
import { scan } from './yaml-scan.mjs';

class YamlEdits extends Edits {
  /** Lines for the end of the file. */
  added = '';

  requireFit({ start, name, node: { kind, value } }, { node: want }) {
    if (kind === 'opaque') refuse(this.text, start, `${name} has an anchor, an alias or a tag.`);
    if (want.kind === 'list' && kind !== 'list' && value !== 'null' && value !== '[]')
      refuse(this.text, start, `${name} is not a list with dashes here.`);
    if (want.kind !== 'list' && !/^(null|scalar|block)$/.test(kind))
      refuse(this.text, start, `${name} is a list or map here.`);
  }

  set(child, setting, source) {
    const { node } = child;
    const text = source.text.slice(setting.node.start, setting.node.end);
    if (child.name === undefined) this.setEntry(child, setting, source);
    else if (setting.node.kind === 'list') {
      if (node.kind !== 'null') this.replace(node.at, node.end, '');
      this.insertLines(lineAfter(this.text, node.end), textOf(setting.node.children, source));
    } else if (node.kind === 'null') this.replace(node.at, node.at, ` ${text}`);
    else this.replace(node.start, node.end, text);
  }

  setEntry(child, { indent, ...entry }, source) {
    const lines = reindent(linesOf(source.text, entry), indent, child.indent);
    this.replace(child.lineStart, lineAfter(this.text, child.node.end), withLineEnds(lines, lineEndOf(this.text)));
  }

  restore(child, former) {
    const { node } = child;
    if (child.name === undefined) return this.setEntry(child, former, this.former);
    // The entries of a list are taken out one by one.
    const isList = node.kind === 'list';
    const start = isList || former.node.kind === 'null' ? node.at : node.start;
    const text = this.formerText(isList ? former.node.at : former.node.start, former.node.end);
    this.replace(start, isList ? start : node.end, text);
  }

  add(node, added, source, { want, at }) {
    if (node.kind === 'map') this.added += textOf(added, source);
    else {
      const lines = reindent(textOf(added, source), want.indent, node.indent);
      if (at === 'start')
        return this.insertLines(introductionOf(this.text, node.children[0].lineStart, /^[ \t]*#/), lines);
      const last = lastOf(node);
      if (last.isOpen && !this.text.endsWith('\n')) refuse(this.text, last.start, 'The last value has no line end.');
      this.insertLines(lineAfter(this.text, node.end), lines);
    }
  }

  /** With settings added at the end, or at the front where a new line end would change the last value. */
  result() {
    const text = super.result();
    if (this.added === '') return text;
    const { root, end } = this.tree;
    const isOpen = root && lastOf(root).isOpen && !text.endsWith('\n');
    const offset = isOpen ? root.start : end + text.length - this.text.length;
    return text.slice(0, offset) + linesAt(text, offset, this.added) + text.slice(offset);
  }

  cut(node, gone, former) {
    for (const { lineStart, node: value } of gone) {
      const end = value.kind === 'list' && node.kind === 'map' ? value.at : value.end;
      this.replace(lineStart, lineAfter(this.text, end), '');
    }
    const isGone = gone.size === node.children.length;
    if (isGone && node.kind === 'list' && former && node.at !== undefined) this.replace(node.at, node.at, ' []');
    return isGone;
  }
}

function lastOf(node) {
  const last = node.children[node.children.length - 1];
  return last ? lastOf(last.node) : node;
}

function linesOf(text, { lineStart, node }) {
  const lines = text.slice(lineStart, lineAfter(text, node.end));
  return lines.endsWith('\n') ? lines : `${lines}\n`;
}

const textOf = (children, { text }) => children.map((child) => linesOf(text, child)).join('');

function lineAfter(text, offset) {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}

/** Lines with a list's dash in another column. */
function reindent(lines, from, to) {
  if (from === to) return lines;
  if (from < to) return lines.replace(/^(?=[^\r\n])/gm, ' '.repeat(to - from));
  return lines.replace(new RegExp(`^ {1,${from - to}}`, 'gm'), '');
}

function fill(tree, wanted) {
  if (isEmpty(tree.text)) return fillEmpty(tree, wanted);
  const edits = new YamlEdits(tree);
  edits.added = fillEmpty({ text: '' }, wanted);
  return edits.result();
}

function requireRoot({ text, root }, { kind }) {
  if (root.kind !== kind) refuse(text, root.start, `The file is not a ${kind}.`);
}

/** Maps inside maps, and lists whose entries nothing identifies, are not among the settings that can be merged. */
function check({ text, root }, source, { identity = [] }) {
  const isFit = ({ name, node: { kind } }) =>
    name === undefined || kind === 'scalar' || (kind === 'list' && identity.length > 0);
  const unfit = source.root.children.find((child) => !isFit(child));
  if (unfit) refuse(source.text, unfit.start, 'This setting cannot be merged into YAML.');
  const merged = root?.children.find(({ name }) => name === '<<');
  if (merged) refuse(text, merged.start, 'A merge key is used here.');
}

export const yaml = editorOf({ scan, Edits: YamlEdits, fill, requireRoot, check });
