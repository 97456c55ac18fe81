// Nodes of YAML that begin in a line: scalars, aliases, lists and maps in brackets.
import { YamlReader, newNode, newline, plainValue, restOfLine, space, trimEnd } from './yaml-scalars.mjs';

const maxDepth = 64;
const alias = /\*[A-Za-z0-9_.-]+/y;
const inFlow = /[^,[\]{}\r\n:#]+/y;

export class FlowReader extends YamlReader {
  /** How many brackets are open: only the outermost one may close in the column of its parent. */
  openBrackets = 0;

  /**
   * A node that begins here and is no block collection.
   *
   * @param parent its indentation
   */
  inline(parent, depth) {
    const start = this.pos;
    const next = this.text[start];
    if (next === '|' || next === '>') return this.block(parent);
    if (next === '"' || next === "'") {
      return newNode('scalar', start, 0, `s${JSON.stringify(this.quoted(parent))}`);
    }
    if (next === '[' || next === '{') return newNode('flow', start, 0, this.flow(parent, depth));
    if (this.takeAlias()) return newNode('opaque', start, 0, '?');
    return this.plain(parent);
  }

  takeAlias() {
    const start = this.pos;
    const name = this.take(alias).slice(1);
    if (name !== '' && !this.anchors.has(name)) this.refuse('The alias has no anchor.', start);
    return name !== '';
  }

  flow(parent, depth) {
    const start = this.pos;
    if (depth > maxDepth) this.refuse('Values are nested too deeply.');
    const isMap = this.text[start] === '{';
    const close = isMap ? '}' : ']';
    this.pos += 1;
    this.openBrackets += 1;
    const parts = [];
    const keys = isMap ? new Set() : undefined;
    for (;;) {
      this.flowGap(parent, start);
      if (this.has(close)) break;
      parts.push(this.flowEntry(keys, parent, depth));
      this.flowGap(parent, start);
      if (this.text[this.pos] !== close && !this.has(',')) this.refuse('A comma or bracket is missing.');
    }
    this.openBrackets -= 1;
    if (parts.includes('?')) return '?';
    return isMap ? `{${parts.sort()}}` : `[${parts}]`;
  }

  flowEntry(keys, parent, depth) {
    const start = this.pos;
    const key = this.flowNode(parent, depth);
    if (keys !== undefined && keys.has(key)) this.refuse('The key is there twice.', start);
    if (keys !== undefined && key !== '?') keys.add(key);
    this.flowGap(parent, start);
    const isOneLine = !/[\r\n]/.test(this.text.slice(start, this.pos));
    if (!this.has(':')) return keys !== undefined && key !== '?' ? `${key}:null` : key;
    if (keys === undefined && !isOneLine) this.refuse('A key and its colon are not in one line.', start);
    this.flowGap(parent, start);
    const value = /[,\]}]/.test(this.text[this.pos]) ? 'null' : this.flowNode(parent, depth);
    return keys !== undefined && key !== '?' && value !== '?' ? `${key}:${value}` : '?';
  }

  flowNode(parent, depth) {
    if (this.takeProperties()) {
      if (!/[,\]}]/.test(this.text[this.pos])) this.flowNode(parent, depth);
      return '?';
    }
    const next = this.text[this.pos];
    if (next === '"' || next === "'") return `s${JSON.stringify(this.quoted(parent))}`;
    if (next === '[' || next === '{') return this.flow(parent, depth + 1);
    return this.takeAlias() ? '?' : this.flowPlain();
  }

  flowPlain() {
    const start = this.pos;
    for (;;) {
      this.take(inFlow);
      const here = this.text.slice(this.pos - 1, this.pos + 2);
      const isText = this.pos > start && (/^[^ \t]#/.test(here) || /^.:[^ \t\r\n,[\]{}]/.test(here));
      if (!isText) break;
      this.pos += 1;
    }
    const text = trimEnd(this.text.slice(start, this.pos));
    if (/^(?:$|[-?](?:[ \t]|$)|[&*!|>'"%@`])/.test(text)) this.refuse('A value is missing or not valid.', start);
    return plainValue(text);
  }

  flowGap(parent, start) {
    for (;;) {
      this.take(space);
      if (this.text[this.pos] === '#' && /[ \t\n]/.test(this.text[this.pos - 1])) this.take(restOfLine);
      if (this.take(newline) === '') break;
      const indent = this.indentation();
      const next = this.text[this.pos];
      const isFree = this.atLineEnd() || next === '#';
      const isClosed = indent === parent && this.openBrackets === 1 && (next === ']' || next === '}');
      if (indent <= parent && !isFree && !isClosed) this.refuse('The line is not indented enough.');
    }
    if (this.pos === this.text.length) this.refuse('A bracket is not closed.', start);
  }
}
