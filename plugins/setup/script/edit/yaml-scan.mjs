// Parses the block structure of a YAML file into a tree with offsets; see settings.mjs.

import { isEmpty, memoize } from './common.mjs';
import { FlowReader } from './yaml-flow.mjs';
import { cannotBePlain, createNode, comparablePlain, restOfLine, space, trimEnd } from './yaml-scalars.mjs';

const maxDepth = 64;
const newlines = /[\r\n]+/y;
const keyEnd = /[ \t]#|:(?=[ \t]|$)/;
const quotedKey = /(?:"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"|'[^'\r\n]*(?:''[^'\r\n]*)*')[ \t]*:(?=[ \t\r\n]|$)/y;
const documentMarker = /(?:---|\.\.\.)(?=[ \t\r\n]|$)/y;

/**
 * @returns the tree; `end` is the offset at which lines can be added
 * @throws Refusal if the text is not YAML, has several documents, or cannot be read exactly
 */
// Elsewhere, tabs and a lone CR are refused, but a text of only whitespace cannot be misread.
export const scan = memoize((text) => ({ ...new Scanner(isEmpty(text) ? '' : text).readDocument(), text }));

class Scanner extends FlowReader {
  indent = -1; // indentation of the next content; -1 at the end of the document
  first = 0; // offset of the next content

  readDocument() {
    this.skipToContent();
    if (this.text[this.pos] === '%') this.refuse('Directives are not supported.');
    if (this.indent < 0 && this.takeText('---')) {
      if (!this.skipToLineEnd()) this.refuse('Content follows the start of the document in its line.');
      this.skipToContent();
    }
    if (this.indent > 0) this.refuse('The first line is indented.');
    const root = this.indent < 0 ? undefined : this.readBlock(-1, 0);
    if (this.indent >= 0) this.refuse('The line does not fit to the one before.', this.first);
    return { root, end: this.readDocumentEnd() };
  }

  readDocumentEnd() {
    const end = this.first;
    if (end === this.text.length) return end;
    if (this.takeText('---')) this.refuse('The file has several documents.', end);
    // After the end marker, only comments may follow.
    this.pos += 3;
    if (!this.skipToLineEnd()) this.refuse('Content follows the end of the document.');
    this.skipToContent();
    if (this.first < this.text.length) this.refuse('Content follows the end of the document.', this.first);
    return end;
  }

  skipToContent() {
    let line = this.pos;
    for (;;) {
      if (this.take(newlines) !== '') line = this.pos;
      this.readIndent();
      const first = this.pos;
      if (!this.skipToLineEnd()) return this.stopAt(line, first);
      if (this.pos === this.text.length) return this.stopAt(-1, this.pos);
    }
  }

  stopAt(line, first) {
    this.pos = first;
    this.first = first;
    this.indent = line < 0 ? -1 : first - line;
    if (this.indent === 0 && this.take(documentMarker) !== '') {
      this.pos = first;
      this.indent = -1;
    }
  }

  readBlock(parent, depth) {
    if (depth > maxDepth) this.refuse('Values are nested too deeply.');
    this.pos = this.first;
    if (this.isDash()) return this.readList(this.indent, depth);
    if (this.isKey()) return this.readMap(this.indent, depth);
    if (parent < 0) this.refuse('The file is neither a map nor a list.');
    return this.readInlineLine(parent, depth);
  }

  readInlineLine(parent, depth) {
    const node = this.readInline(parent, depth);
    node.end = this.pos;
    if (!this.skipToLineEnd()) this.refuse('The line continues unexpectedly.');
    this.skipToContent();
    return node;
  }

  isDash() {
    return /^-(?:[ \t\r\n]|$)/.test(this.text.slice(this.pos, this.pos + 2));
  }

  isKey() {
    const start = this.pos;
    const next = this.text[start];
    if (/^\?(?:[ \t\r\n]|$)/.test(this.text.slice(start, start + 2))) this.refuse('Complex keys are not supported.');
    if (/[[{|>]/.test(next)) return false;
    const isQuoted = next === '"' || next === "'";
    const match = isQuoted ? this.take(quotedKey) : keyEnd.exec(this.take(restOfLine));
    this.pos = start;
    return isQuoted ? match !== '' : match !== null && match[0] === ':';
  }

  readMap(indent, depth) {
    const map = { ...createNode('map', this.first, 0, ''), indent };
    const keys = new Set();
    do {
      this.pos = this.first;
      if (!this.isKey()) this.refuse('A key is missing.');
      const entry = this.readMember(indent, depth);
      if (keys.has(entry.name)) this.refuse('The key is there twice.', entry.start);
      keys.add(entry.name);
      map.children.push(entry);
    } while (this.indent === indent && !this.isListNext());
    if (this.indent >= indent) this.refuse('The line does not fit to the one before.', this.first);
    const values = map.children.map(({ keyValue, node }) => `${keyValue}:${node.value}`);
    return this.completeNode(map, `{${values.sort()}}`);
  }

  completeNode(node, value) {
    const isKnown = node.children.every((child) => child.node.value !== '?');
    return Object.assign(node, { value: isKnown ? value : '?', end: node.children[node.children.length - 1].node.end });
  }

  readMember(indent, depth) {
    const start = this.pos;
    const hasProperties = this.takeProperties();
    const { key: name, value: keyValue } = this.readKey();
    if (!this.takeText(':')) this.refuse('A colon is missing.');
    const node = this.readValue(indent, depth, true);
    const isClear = !hasProperties && name !== '<<';
    return { name, keyValue, start, lineStart: start - indent, node: isClear ? node : toOpaque(node) };
  }

  readKey() {
    const start = this.pos;
    const quote = this.text[start];
    if (quote === '"' || quote === "'") {
      const key = this.readQuoted(Infinity);
      this.take(space);
      return { key, value: `s${JSON.stringify(key)}` };
    }
    const match = keyEnd.exec(this.take(restOfLine));
    if (match === null) this.refuse('A colon is missing.', start);
    this.pos = start + match.index;
    const key = trimEnd(this.text.slice(start, this.pos));
    if (cannotBePlain(key)) this.refuse('A key cannot begin like this.', start);
    return { key, value: comparablePlain(key) };
  }

  readList(indent, depth) {
    const list = { ...createNode('list', this.first, 0, ''), indent };
    do {
      const start = this.first;
      this.pos = start + 1;
      list.children.push({ start, lineStart: start - indent, indent, node: this.readValue(indent, depth, false) });
    } while (this.indent === indent && this.isListNext());
    if (this.indent > indent) this.refuse('The line does not fit to the one before.', this.first);
    return this.completeNode(list, `[${list.children.map(({ node }) => node.value)}]`);
  }

  isListNext() {
    this.pos = this.first;
    return this.isDash();
  }

  readValue(indent, depth, isMember) {
    const at = this.pos;
    const gap = this.take(space);
    if (!isMember && gap.includes('\t')) this.refuse('A tab is used as indentation.', at);
    const hasProperties = this.takeProperties();
    if (hasProperties && this.isDash()) this.refuse('A list follows an anchor or tag in its line.');
    const node = this.skipToLineEnd()
      ? this.readValueBelow(indent, depth, isMember, at)
      : this.readValueOnLine(indent, depth, isMember, at);
    return { ...(hasProperties ? toOpaque(node) : node), at };
  }

  readValueBelow(indent, depth, isMember, at) {
    this.skipToContent();
    if (this.indent > indent) return this.readBlock(indent, depth + 1);
    if (isMember && this.indent === indent && this.isListNext()) return this.readList(indent, depth + 1);
    return createNode('null', at, at, 'null');
  }

  readValueOnLine(indent, depth, isMember, at) {
    if (isMember || !(this.isDash() || this.isKey())) return this.readInlineLine(indent, depth);
    // After a dash, a map or list has the indentation of its first character.
    this.first = this.pos;
    this.indent = indent + 1 + this.pos - at;
    return this.readBlock(indent, depth + 1);
  }
}

function toOpaque(node) {
  // Merge keys, anchors, aliases and tags are not resolved.
  return { ...node, kind: 'opaque', value: '?' };
}
