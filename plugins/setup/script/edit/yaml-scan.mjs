// The block structure of a YAML file with its places in the text, see settings.mjs: maps and lists by their indentation.
import { isEmpty, memoize } from './common.mjs';
import { FlowReader } from './yaml-flow.mjs';
import { cannotBePlain, newNode, plainValue, restOfLine, space, trimEnd } from './yaml-scalars.mjs';

const maxDepth = 64;
const newlines = /[\r\n]+/y;
const colon = /[ \t]#|:(?=[ \t]|$)/;
const quotedKey = /(?:"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"|'[^'\r\n]*(?:''[^'\r\n]*)*')[ \t]*:(?=[ \t\r\n]|$)/y;
const marker = /(?:---|\.\.\.)(?=[ \t\r\n]|$)/y;

/**
 * @returns `end` is where lines can be added
 * @throws Refusal when the text is not YAML, has several documents, or is written in a way that is not read exactly
 */
// Tabs and a lone CR are refused elsewhere, but a file of whitespace holds nothing to be misread.
export const scan = memoize((text) => ({ ...new Scanner(isEmpty(text) ? '' : text).document(), text }));

class Scanner extends FlowReader {
  /** The next line with content begins at `first`, after `indent` spaces: -1 at the end of the document. */
  indent = -1;
  first = 0;

  document() {
    this.nextLine();
    if (this.text[this.pos] === '%') this.refuse('Directives are not supported.');
    if (this.indent < 0 && this.has('---')) {
      if (!this.hasOnlyComment()) this.refuse('Content follows the start of the document in its line.');
      this.nextLine();
    }
    if (this.indent > 0) this.refuse('The first line is indented.');
    const root = this.indent < 0 ? undefined : this.blockNode(-1, 0);
    if (this.indent >= 0) this.refuse('The line does not fit to the one before.', this.first);
    return { root, end: this.endDocument() };
  }

  /** Where the document ends. Behind its end marker only comments are allowed. */
  endDocument() {
    const end = this.first;
    if (end === this.text.length) return end;
    if (this.has('---')) this.refuse('The file has several documents.', end);
    this.pos += 3;
    if (!this.hasOnlyComment()) this.refuse('Content follows the end of the document.');
    this.nextLine();
    if (this.first < this.text.length) this.refuse('Content follows the end of the document.', this.first);
    return end;
  }

  /** From the end of a line, or the start of the file, to the next line with content. */
  nextLine() {
    let line = this.pos;
    for (;;) {
      if (this.take(newlines) !== '') line = this.pos;
      this.indentation();
      const first = this.pos;
      if (!this.hasOnlyComment()) return this.stopAt(line, first);
      if (this.pos === this.text.length) return this.stopAt(-1, this.pos);
    }
  }

  stopAt(line, first) {
    this.pos = first;
    this.first = first;
    this.indent = line < 0 ? -1 : first - line;
    if (this.indent === 0 && this.take(marker) !== '') {
      this.pos = first;
      this.indent = -1;
    }
  }

  /** Reads the node that begins in the next line, which is indented more than `parent`. */
  blockNode(parent, depth) {
    if (depth > maxDepth) this.refuse('Values are nested too deeply.');
    this.pos = this.first;
    if (this.isDash()) return this.list(this.indent, depth);
    if (this.isKey()) return this.map(this.indent, depth);
    if (parent < 0) this.refuse('The file is neither a map nor a list.');
    return this.inlineNode(parent, depth);
  }

  inlineNode(parent, depth) {
    const node = this.inline(parent, depth);
    node.end = this.pos;
    if (!this.hasOnlyComment()) this.refuse('The line continues unexpectedly.');
    this.nextLine();
    return node;
  }

  isDash() {
    return /^-(?:[ \t\r\n]|$)/.test(this.text.slice(this.pos, this.pos + 2));
  }

  /** Whether a key with its colon is in this line. */
  isKey() {
    const start = this.pos;
    const next = this.text[start];
    if (/^\?(?:[ \t\r\n]|$)/.test(this.text.slice(start, start + 2))) this.refuse('Complex keys are not supported.');
    if (/[[{|>]/.test(next)) return false;
    const isQuoted = next === '"' || next === "'";
    const found = isQuoted ? this.take(quotedKey) : colon.exec(this.take(restOfLine));
    this.pos = start;
    return isQuoted ? found !== '' : found !== null && found[0] === ':';
  }

  /** @returns a map whose first key is at `first`, in the column `indent` */
  map(indent, depth) {
    const map = { ...newNode('map', this.first, 0, ''), indent };
    const keys = new Set();
    do {
      this.pos = this.first;
      if (!this.isKey()) this.refuse('A key is missing.');
      const entry = this.entry(indent, depth);
      if (keys.has(entry.name)) this.refuse('The key is there twice.', entry.start);
      keys.add(entry.name);
      map.children.push(entry);
    } while (this.indent === indent && !this.startsList());
    if (this.indent >= indent) this.refuse('The line does not fit to the one before.', this.first);
    const values = map.children.map(({ keyValue, node }) => `${keyValue}:${node.value}`);
    return this.close(map, `{${values.sort()}}`);
  }

  /** Completes a map or list, which is not known in full when a value in it is not. */
  close(node, value) {
    const isKnown = node.children.every((child) => child.node.value !== '?');
    return Object.assign(node, { value: isKnown ? value : '?', end: node.children[node.children.length - 1].node.end });
  }

  entry(indent, depth) {
    const start = this.pos;
    const hasProperties = this.takeProperties();
    const { key: name, value: keyValue } = this.key();
    if (!this.has(':')) this.refuse('A colon is missing.');
    const node = this.value(indent, depth, true);
    const isClear = !hasProperties && name !== '<<';
    return { name, keyValue, start, lineStart: start - indent, node: isClear ? node : opaque(node) };
  }

  /** A key, up to its colon: as it is, and as a value. */
  key() {
    const start = this.pos;
    const quote = this.text[start];
    if (quote === '"' || quote === "'") {
      const key = this.quoted(Infinity);
      this.take(space);
      return { key, value: `s${JSON.stringify(key)}` };
    }
    const found = colon.exec(this.take(restOfLine));
    if (found === null) this.refuse('A colon is missing.', start);
    this.pos = start + found.index;
    const key = trimEnd(this.text.slice(start, this.pos));
    if (cannotBePlain(key)) this.refuse('A key cannot begin like this.', start);
    return { key, value: plainValue(key) };
  }

  /** @returns a list whose first dash is at `first`, in the column `indent` */
  list(indent, depth) {
    const list = { ...newNode('list', this.first, 0, ''), indent };
    do {
      const start = this.first;
      this.pos = start + 1;
      list.children.push({ start, lineStart: start - indent, indent, node: this.value(indent, depth, false) });
    } while (this.indent === indent && this.startsList());
    if (this.indent > indent) this.refuse('The line does not fit to the one before.', this.first);
    return this.close(list, `[${list.children.map(({ node }) => node.value)}]`);
  }

  startsList() {
    this.pos = this.first;
    return this.isDash();
  }

  value(indent, depth, isOfMap) {
    const at = this.pos;
    const gap = this.take(space);
    if (!isOfMap && gap.includes('\t')) this.refuse('A tab is used as indentation.', at);
    const hasProperties = this.takeProperties();
    if (hasProperties && this.isDash()) this.refuse('A list follows an anchor or tag in its line.');
    const node = this.hasOnlyComment()
      ? this.below(indent, depth, isOfMap, at)
      : this.beside(indent, depth, isOfMap, at);
    return { ...(hasProperties ? opaque(node) : node), at };
  }

  /** A value in the lines below; without any, null. */
  below(indent, depth, isOfMap, at) {
    this.nextLine();
    if (this.indent > indent) return this.blockNode(indent, depth + 1);
    if (isOfMap && this.indent === indent && this.startsList()) return this.list(indent, depth + 1);
    return newNode('null', at, at, 'null');
  }

  /** A value in the same line. Behind a dash it can be a map or list, in the column where it begins. */
  beside(indent, depth, isOfMap, at) {
    if (isOfMap || !(this.isDash() || this.isKey())) return this.inlineNode(indent, depth);
    this.first = this.pos;
    this.indent = indent + 1 + this.pos - at;
    return this.blockNode(indent, depth + 1);
  }
}

/** Merge keys, anchors, aliases and tags are not resolved. */
function opaque(node) {
  return { ...node, kind: 'opaque', value: '?' };
}
