// YAML nodes that are not block collections: scalars, aliases, flow lists and flow maps.

import { YamlReader, createNode, newline, comparablePlain, restOfLine, space, trimEnd } from './yaml-scalars.mjs';

const maxDepth = 64;
const alias = /\*[A-Za-z0-9_.-]+/y;
const flowPlainRun = /[^,[\]{}\r\n:#]+/y;

export class FlowReader extends YamlReader {
  openBrackets = 0; // only the outermost bracket may close in its parent's column

  readInline(parent, depth) {
    const start = this.pos;
    const next = this.text[start];
    if (next === '|' || next === '>') return this.readBlockScalar(parent);
    if (next === '"' || next === "'") {
      return createNode('scalar', start, 0, `s${JSON.stringify(this.readQuoted(parent))}`);
    }
    if (next === '[' || next === '{') return createNode('flow', start, 0, this.readFlow(parent, depth));
    if (this.takeAlias()) return createNode('opaque', start, 0, '?');
    return this.readPlain(parent);
  }

  takeAlias() {
    const start = this.pos;
    const name = this.take(alias).slice(1);
    if (name !== '' && !this.anchors.has(name)) this.refuse('The alias has no anchor.', start);
    return name !== '';
  }

  readFlow(parent, depth) {
    const start = this.pos;
    if (depth > maxDepth) this.refuse('Values are nested too deeply.');
    const isMap = this.text[start] === '{';
    const close = isMap ? '}' : ']';
    this.pos += 1;
    this.openBrackets += 1;
    const parts = [];
    const keys = isMap ? new Set() : undefined;
    for (;;) {
      this.skipFlowSpace(parent, start);
      if (this.takeText(close)) break;
      parts.push(this.readFlowEntry(keys, parent, depth));
      this.skipFlowSpace(parent, start);
      if (this.text[this.pos] !== close && !this.takeText(',')) this.refuse('A comma or bracket is missing.');
    }
    this.openBrackets -= 1;
    if (parts.includes('?')) return '?';
    return isMap ? `{${parts.sort()}}` : `[${parts}]`;
  }

  readFlowEntry(keys, parent, depth) {
    const start = this.pos;
    const key = this.readFlowNode(parent, depth);
    if (keys !== undefined && keys.has(key)) this.refuse('The key is there twice.', start);
    if (keys !== undefined && key !== '?') keys.add(key);
    this.skipFlowSpace(parent, start);
    const isOneLine = !/[\r\n]/.test(this.text.slice(start, this.pos));
    if (!this.takeText(':')) return keys !== undefined && key !== '?' ? `${key}:null` : key;
    if (keys === undefined && !isOneLine) this.refuse('A key and its colon are not in one line.', start);
    this.skipFlowSpace(parent, start);
    const value = /[,\]}]/.test(this.text[this.pos]) ? 'null' : this.readFlowNode(parent, depth);
    return keys !== undefined && key !== '?' && value !== '?' ? `${key}:${value}` : '?';
  }

  readFlowNode(parent, depth) {
    if (this.takeProperties()) {
      if (!/[,\]}]/.test(this.text[this.pos])) this.readFlowNode(parent, depth);
      return '?';
    }
    const next = this.text[this.pos];
    if (next === '"' || next === "'") return `s${JSON.stringify(this.readQuoted(parent))}`;
    if (next === '[' || next === '{') return this.readFlow(parent, depth + 1);
    return this.takeAlias() ? '?' : this.readFlowPlain();
  }

  readFlowPlain() {
    const start = this.pos;
    for (;;) {
      this.take(flowPlainRun);
      const neighbours = this.text.slice(this.pos - 1, this.pos + 2);
      const continuesText = this.pos > start && (/^[^ \t]#/.test(neighbours) || /^.:[^ \t\r\n,[\]{}]/.test(neighbours));
      if (!continuesText) break;
      this.pos += 1;
    }
    const text = trimEnd(this.text.slice(start, this.pos));
    if (/^(?:$|[-?](?:[ \t]|$)|[&*!|>'"%@`])/.test(text)) this.refuse('A value is missing or not valid.', start);
    return comparablePlain(text);
  }

  skipFlowSpace(parent, start) {
    for (;;) {
      this.take(space);
      if (this.text[this.pos] === '#' && /[ \t\n]/.test(this.text[this.pos - 1])) this.take(restOfLine);
      if (this.take(newline) === '') break;
      const indent = this.readIndent();
      const next = this.text[this.pos];
      const isBlankOrComment = this.isAtLineEnd() || next === '#';
      const closesOutermost = indent === parent && this.openBrackets === 1 && (next === ']' || next === '}');
      if (indent <= parent && !isBlankOrComment && !closesOutermost) this.refuse('The line is not indented enough.');
    }
    if (this.pos === this.text.length) this.refuse('A bracket is not closed.', start);
  }
}
