// Settings in YAML files: scalars of the root map, a list of maps under a key of the root, or a list as the root. Only their lines change.

import { Edits, createContent, findComments, isEmpty, fitLines, readLineEnd, refuse, setLineEnds } from './common.mjs';
import { createEditor } from './settings.mjs';
import { scan } from './yaml-scan.mjs';

class YamlEdits extends Edits {
  addedLines = ''; // lines to add at the end of the file

  requireMergeable({ start, name, node: { kind, value } }, { node: want }) {
    if (kind === 'opaque') refuse(this.text, start, `${name} has an anchor, an alias or a tag.`);
    if (want.kind === 'list' && kind !== 'list' && value !== 'null' && value !== '[]')
      refuse(this.text, start, `${name} is not a list with dashes here.`);
    if (want.kind !== 'list' && !/^(null|scalar|block)$/.test(kind))
      refuse(this.text, start, `${name} is a list or map here.`);
  }

  set(child, setting, source) {
    const { node } = child;
    const text = source.text.slice(setting.node.start, setting.node.end);
    if (child.name === undefined) this.replaceEntry(child, setting, source);
    else if (setting.node.kind === 'list') {
      if (node.kind !== 'null') this.replace(node.at, node.end, '');
      this.insertLines(findNextLine(this.text, node.end), copyChildren(setting.node.children, source));
    } else if (node.kind === 'null') this.replace(node.at, node.at, ` ${text}`);
    else this.replace(node.start, node.end, text);
  }

  replaceEntry(child, { indent, ...entry }, source) {
    const lines = reindent(copyLines(source.text, entry), indent, child.indent);
    this.replace(child.lineStart, findNextLine(this.text, child.node.end), setLineEnds(lines, readLineEnd(this.text)));
  }

  restore(child, original) {
    const { node } = child;
    if (child.name === undefined) return this.replaceEntry(child, original, this.former);
    // Entries of a list are removed one by one.
    const isList = node.kind === 'list';
    const start = isList || original.node.kind === 'null' ? node.at : node.start;
    const text = this.originalText(isList ? original.node.at : original.node.start, original.node.end);
    this.replace(start, isList ? start : node.end, text);
  }

  add(node, added, source, { wanted, at }) {
    if (node.kind === 'map') this.addedLines += copyChildren(added, source);
    else {
      const lines = reindent(copyChildren(added, source), wanted.indent, node.indent);
      if (at === 'start')
        return this.insertLines(findComments(this.text, node.children[0].lineStart, /^[ \t]*#/), lines);
      const last = findLastNode(node);
      if (last.isOpen && !this.text.endsWith('\n')) refuse(this.text, last.start, 'The last value has no line end.');
      this.insertLines(findNextLine(this.text, node.end), lines);
    }
  }

  apply() {
    const text = super.apply();
    if (this.addedLines === '') return text;
    const { root, end } = this.tree;
    // A line end would change the last value while it is open, so the lines go at the start.
    const isOpen = root && findLastNode(root).isOpen && !text.endsWith('\n');
    const offset = isOpen ? root.start : end + text.length - this.text.length;
    return text.slice(0, offset) + fitLines(text, offset, this.addedLines) + text.slice(offset);
  }

  cut(node, removed, original) {
    for (const { lineStart, node: value } of removed) {
      const end = value.kind === 'list' && node.kind === 'map' ? value.at : value.end;
      this.replace(lineStart, findNextLine(this.text, end), '');
    }
    const isEmptied = removed.size === node.children.length;
    if (isEmptied && node.kind === 'list' && original && node.at !== undefined) this.replace(node.at, node.at, ' []');
    return isEmptied;
  }
}

function findLastNode(node) {
  const last = node.children[node.children.length - 1];
  return last ? findLastNode(last.node) : node;
}

function copyLines(text, { lineStart, node }) {
  const lines = text.slice(lineStart, findNextLine(text, node.end));
  return lines.endsWith('\n') ? lines : `${lines}\n`;
}

const copyChildren = (children, { text }) => children.map((child) => copyLines(text, child)).join('');

function findNextLine(text, offset) {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}

function reindent(lines, from, to) {
  if (from === to) return lines;
  if (from < to) return lines.replace(/^(?=[^\r\n])/gm, ' '.repeat(to - from));
  return lines.replace(new RegExp(`^ {1,${from - to}}`, 'gm'), '');
}

function createFile(tree, wanted) {
  if (isEmpty(tree.text)) return createContent(tree, wanted);
  const edits = new YamlEdits(tree);
  edits.addedLines = createContent({ text: '' }, wanted);
  return edits.apply();
}

function requireRoot({ text, root }, { kind }) {
  if (root.kind !== kind) refuse(text, root.start, `The file is not a ${kind}.`);
}

function check({ text, root }, source, { identity = [] }) {
  // Settings cannot be nested maps, or lists without an identity.
  const isMergeable = ({ name, node: { kind } }) =>
    name === undefined || kind === 'scalar' || (kind === 'list' && identity.length > 0);
  const rejected = source.root.children.find((child) => !isMergeable(child));
  if (rejected) refuse(source.text, rejected.start, 'This setting cannot be merged into YAML.');
  const mergeKey = root?.children.find(({ name }) => name === '<<');
  if (mergeKey) refuse(text, mergeKey.start, 'A merge key is used here.');
}

export const yaml = createEditor({ scan, Edits: YamlEdits, fill: createFile, requireRoot, check });
