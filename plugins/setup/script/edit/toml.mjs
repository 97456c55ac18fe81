// Settings in TOML files, such as Codex's. Only the bytes of our own settings change.
//
// Keys of the root go before the first table: below a header they would belong to that table. New tables go to the end, those of
// arrays too: the entries of a list are tables such as [[providers]].
import {
  Edits,
  fillEmpty,
  introductionOf,
  isBlankAbove,
  isEmpty,
  lineEndOf,
  linesAt,
  refuse,
  startOfLine,
  withLineEnds,
} from './common.mjs';
import { editorOf } from './settings.mjs';
import { scan } from './toml-scan.mjs';

/** A directive such as `#:schema` stays at the top. */
const comment = /^[ \t]*#(?!:)/;

const isTable = ({ how }) => how === 'header' || how === 'implied' || how === 'array';

class TomlEdits extends Edits {
  /** The texts of new tables, and the headers of tables that are ours. */
  added = [];
  headers = [];

  requireFit({ node }, { node: want }, path) {
    if (want.kind === 'map' && (node.kind !== 'map' || node.how === 'dotted'))
      refuse(this.text, node.first.keyStart, `Nothing can be added to the table ${path} here.`);
    if (want.kind === 'list' && node.kind !== 'list')
      refuse(this.text, node.first.keyStart, `${path} is not a list of tables here.`);
    if (want.kind === 'value' && node.kind !== 'value')
      refuse(this.text, node.first.keyStart, `${path} is a table here, not a value.`);
  }

  set({ name, node }, setting, source) {
    if (name === undefined) return this.setEntry(node, entryText(setting.node, source));
    const { valueStart, valueEnd } = setting.node.statement;
    this.setValue(node, withLineEnds(source.text.slice(valueStart, valueEnd), lineEndOf(this.text)));
  }

  restore({ name, node }, former) {
    if (name === undefined) return this.setEntry(node, entryText(former.node, this.former));
    const { valueStart, valueEnd } = former.node.statement;
    this.setValue(node, this.former.text.slice(valueStart, valueEnd));
  }

  /** The new table takes the place of the old one, whose inner tables go. */
  setEntry(node, text) {
    const [{ start, end }, ...others] = statementsOf(node);
    this.replace(start, end, withLineEnds(text, lineEndOf(this.text)));
    for (const statement of others) this.replace(statement.start, statement.end, '');
  }

  setValue({ statement }, text) {
    this.replace(statement.valueStart, statement.valueEnd, text);
  }

  add(node, added, source, { want }) {
    const lines = linesOf(added, source);
    if (node.how === 'implied' && lines.length > 0) this.added.push(headerOf(want, source) + lines.join(''));
    else if (lines.length > 0) this.addLines(node, lines);
    this.addTables(added, source);
  }

  /** Adds lines at the end of a table, before the blank lines and comments that introduce the next one. */
  addLines(table, lines) {
    const last = pairsOf(table).pop() ?? table.statement;
    const { firstHeader } = this.tree;
    if (last) {
      const indent = /[ \t]*$/.exec(this.text.slice(last.start, last.keyStart))[0];
      this.insertLines(last.end, lines.map((line) => indent + line).join(''));
    } else if (firstHeader < 0) this.insertLines(this.text.length, lines.join(''));
    else this.insertLines(introductionOf(this.text, firstHeader, comment), `${lines.join('')}\n`);
  }

  addTables(children, source) {
    for (const { node } of children.filter((child) => isTable(child.node))) {
      if (node.how === 'header') this.added.push(headerOf(node, source) + linesOf(node.children, source).join(''));
      this.addTables(node.children, source);
    }
  }

  /** With the new tables at its end, each after a blank line. */
  result() {
    return this.added.reduce(
      (text, table) => text + linesAt(text, text.length, isBlankAbove(text, text.length) ? table : `\n${table}`),
      super.result(),
    );
  }

  cut(node, gone, former) {
    for (const { name, node: value } of gone) {
      if (value.how === 'value') this.replace(value.statement.start, value.statement.end, '');
      else if (name === undefined) this.cutEntry(value);
    }
    const isBare = node.children.every((child) => gone.has(child) || isTable(child.node));
    if (node === this.tree.root && isBare) this.cutGap(node);
    else if (node.how === 'header' && node.statement && (!former || former.how === 'implied'))
      this.headers.push({ ...node.statement, isBare });
    return gone.size === node.children.length;
  }

  cutEntry(node) {
    for (const { start, end, value } of statementsOf(node))
      if (value === undefined) this.headers.push({ start, end, isBare: true });
      else this.replace(start, end, '');
  }

  /** The blank line that came with the first keys of the root. */
  cutGap(root) {
    const last = pairsOf(root).pop();
    if (!last || pairsOf(this.former.root).length > 0 || this.former.firstHeader < 0) return;
    const gap = /^[ \t]*\r?\n/.exec(this.text.slice(last.end, last.end + 200));
    if (gap) this.replace(last.end, last.end + gap[0].length, '');
  }

  /** Without our empty headers, each with the blank line above it: the first came without one where the file ended with one. */
  finish() {
    const { text: before } = this.former;
    const hadBlank = !isEmpty(before) && isBlankAbove(before, before.length);
    for (const [index, { start, end, isBare }] of this.headers.sort((a, b) => a.start - b.start).entries()) {
      const hasBlank = !(hadBlank && index === 0) && start > 0 && isBlankAbove(this.text, start);
      if (isBare) this.replace(hasBlank ? startOfLine(this.text, start - 1) : start, end, '');
    }
    return super.finish();
  }
}

/** The statements of a table in their order; a pair with dotted keys is inside of the table that it makes. */
function pairsOf(table) {
  const inner = table.children.filter(({ node }) => !isTable(node));
  const pairs = inner.flatMap(({ node }) => (node.how === 'value' ? [node.statement] : pairsOf(node)));
  return pairs.sort((one, other) => one.start - other.start);
}

/** The statements of a table of an array in their order, with those of its inner tables: its header comes first. */
function statementsOf(node) {
  const hasOwn = node.how === 'value' || (node.how === 'header' && node.statement !== undefined);
  const own = hasOwn ? [node.statement] : [];
  const inner = node.children.flatMap((child) => statementsOf(child.node));
  return [...own, ...inner].sort((one, other) => one.start - other.start);
}

function entryText(node, { text }) {
  const lines = statementsOf(node).map(({ start, end }) => text.slice(start, end));
  return lines.map((line) => (line.endsWith('\n') ? line : `${line}\n`)).join('');
}

const linesOf = (children, { text }) =>
  children
    .filter(({ node }) => node.how === 'value')
    .map(({ node: { statement } }) => `${text.slice(statement.keyStart, statement.valueEnd)}\n`);

const headerOf = ({ statement }, { text }) => `${text.slice(statement.keyStart, statement.valueEnd)}\n`;

export const toml = editorOf({ scan, Edits: TomlEdits, fill: fillEmpty });
