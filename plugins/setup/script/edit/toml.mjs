// Settings in TOML files, such as Codex's. Only the bytes of our own settings change.
//
// Keys of the root are added before the first table; below a header, they would belong to that table. New tables, including entries of
// lists such as [[providers]], are added at the end.

import {
  Edits,
  createContent,
  findComments,
  isBlankAbove,
  isEmpty,
  readLineEnd,
  fitLines,
  refuse,
  findLineStart,
  setLineEnds,
} from './common.mjs';
import { createEditor } from './settings.mjs';
import { scan } from './toml-scan.mjs';

const commentLine = /^[ \t]*#(?!:)/; // a directive such as `#:schema` stays at the top

const isTable = ({ how }) => how === 'header' || how === 'implied' || how === 'array';

class TomlEdits extends Edits {
  addedTables = [];
  ownHeaders = []; // headers of tables that came with the settings

  requireMergeable({ node }, { node: want }, path) {
    if (want.kind === 'map' && (node.kind !== 'map' || node.how === 'dotted'))
      refuse(this.text, node.firstStatement.keyStart, `Nothing can be added to the table ${path} here.`);
    if (want.kind === 'list' && node.kind !== 'list')
      refuse(this.text, node.firstStatement.keyStart, `${path} is not a list of tables here.`);
    if (want.kind === 'value' && node.kind !== 'value')
      refuse(this.text, node.firstStatement.keyStart, `${path} is a table here, not a value.`);
  }

  set({ name, node }, setting, source) {
    if (name === undefined) return this.replaceEntry(node, copyEntry(setting.node, source));
    const { valueStart, valueEnd } = setting.node.statement;
    this.replaceValue(node, setLineEnds(source.text.slice(valueStart, valueEnd), readLineEnd(this.text)));
  }

  restore({ name, node }, former) {
    if (name === undefined) return this.replaceEntry(node, copyEntry(former.node, this.former));
    const { valueStart, valueEnd } = former.node.statement;
    this.replaceValue(node, this.former.text.slice(valueStart, valueEnd));
  }

  replaceEntry(node, text) {
    const [{ start, end }, ...innerStatements] = listStatements(node);
    this.replace(start, end, setLineEnds(text, readLineEnd(this.text)));
    for (const statement of innerStatements) this.replace(statement.start, statement.end, '');
  }

  replaceValue({ statement }, text) {
    this.replace(statement.valueStart, statement.valueEnd, text);
  }

  add(node, added, source, { wanted }) {
    const lines = copyPairs(added, source);
    if (node.how === 'implied' && lines.length > 0) this.addedTables.push(copyHeader(wanted, source) + lines.join(''));
    else if (lines.length > 0) this.addLines(node, lines);
    this.addTables(added, source);
  }

  addLines(table, lines) {
    // Inserts before the blank lines and comments that introduce the next table.
    const last = listPairs(table).pop() ?? table.statement;
    const { firstHeader } = this.tree;
    if (last) {
      const indent = /[ \t]*$/.exec(this.text.slice(last.start, last.keyStart))[0];
      this.insertLines(last.end, lines.map((line) => indent + line).join(''));
    } else if (firstHeader < 0) this.insertLines(this.text.length, lines.join(''));
    else this.insertLines(findComments(this.text, firstHeader, commentLine), `${lines.join('')}\n`);
  }

  addTables(children, source) {
    for (const { node } of children.filter((child) => isTable(child.node))) {
      if (node.how === 'header')
        this.addedTables.push(copyHeader(node, source) + copyPairs(node.children, source).join(''));
      this.addTables(node.children, source);
    }
  }

  apply() {
    // New tables go at the end, each after a blank line.
    return this.addedTables.reduce(
      (text, table) => text + fitLines(text, text.length, isBlankAbove(text, text.length) ? table : `\n${table}`),
      super.apply(),
    );
  }

  cut(node, removed, original) {
    for (const { name, node: value } of removed) {
      if (value.how === 'value') this.replace(value.statement.start, value.statement.end, '');
      else if (name === undefined) this.removeEntry(value);
    }
    const isBare = node.children.every((child) => removed.has(child) || isTable(child.node));
    if (node === this.tree.root && isBare) this.removeSeparator(node);
    else if (node.how === 'header' && node.statement && (!original || original.how === 'implied'))
      this.ownHeaders.push({ ...node.statement, isBare });
    return removed.size === node.children.length;
  }

  removeEntry(node) {
    for (const { start, end, value } of listStatements(node))
      if (value === undefined) this.ownHeaders.push({ start, end, isBare: true });
      else this.replace(start, end, '');
  }

  removeSeparator(root) {
    const last = listPairs(root).pop();
    if (!last || listPairs(this.former.root).length > 0 || this.former.firstHeader < 0) return;
    // Removes the blank line that was added with the first keys of the root.
    const separator = /^[ \t]*\r?\n/.exec(this.text.slice(last.end, last.end + 200));
    if (separator) this.replace(last.end, last.end + separator[0].length, '');
  }

  finish() {
    const { text: originalText } = this.former;
    // Also removes the settings' empty headers, with the blank lines that were added with them.
    const hadBlank = !isEmpty(originalText) && isBlankAbove(originalText, originalText.length);
    for (const [index, { start, end, isBare }] of this.ownHeaders.sort((a, b) => a.start - b.start).entries()) {
      const hasBlank = !(hadBlank && index === 0) && start > 0 && isBlankAbove(this.text, start);
      if (isBare) this.replace(hasBlank ? findLineStart(this.text, start - 1) : start, end, '');
    }
    return super.finish();
  }
}

function listPairs(table) {
  const inner = table.children.filter(({ node }) => !isTable(node));
  const pairs = inner.flatMap(({ node }) => (node.how === 'value' ? [node.statement] : listPairs(node)));
  return pairs.sort((one, other) => one.start - other.start);
}

function listStatements(node) {
  const hasStatement = node.how === 'value' || (node.how === 'header' && node.statement !== undefined);
  const ownStatement = hasStatement ? [node.statement] : [];
  const inner = node.children.flatMap((child) => listStatements(child.node));
  // In file order, the header comes first.
  return [...ownStatement, ...inner].sort((one, other) => one.start - other.start);
}

function copyEntry(node, { text }) {
  const lines = listStatements(node).map(({ start, end }) => text.slice(start, end));
  return lines.map((line) => (line.endsWith('\n') ? line : `${line}\n`)).join('');
}

const copyPairs = (children, { text }) =>
  children
    .filter(({ node }) => node.how === 'value')
    .map(({ node: { statement } }) => `${text.slice(statement.keyStart, statement.valueEnd)}\n`);

const copyHeader = ({ statement }, { text }) => `${text.slice(statement.keyStart, statement.valueEnd)}\n`;

export const toml = createEditor({ scan, Edits: TomlEdits, fill: createContent });
