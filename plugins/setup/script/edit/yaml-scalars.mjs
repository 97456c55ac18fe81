// YAML scalars, comments, anchors and tags. For comparison, a value becomes a text: `s"a"`, `i42`, `[i1,i2]`; or `?`, which equals nothing,
// if the value is not fully parsed.

import { Reader } from './common.mjs';

const disallowedCharacter = /[^\t\n\r -~\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]|\r(?!\n)/; // includes C1 controls and rare line ends
export const space = /[ \t]*/y;
const spaces = / */y;
export const newline = /\r?\n/y;
export const restOfLine = /[^\r\n]*/y;
const blockHeader = /[|>](?:[1-9][+-]?|[+-][1-9]?)?/y;
const property = /&[A-Za-z0-9_.-]+|!!?[A-Za-z][A-Za-z0-9_./:-]*|!/y;
const doubleQuotedRun = /[^"\\\r\n]+/y;
const singleQuotedRun = /[^'\r\n]+/y;
const escapeSequence = /\\(?:[0abt\tnvfre "/\\N_LP]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})/y;
const escapedCharacters = {
  0: '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};

/**
 * A node; see settings.mjs. `end` is the offset after its last character, `at` the offset after its colon or dash. `isOpen` is true if a
 * line end after it would change its value. `indent` is the column of a list's dashes. Nodes with an anchor, alias or tag are `opaque`.
 * @typedef {{kind: 'scalar' | 'block' | 'null' | 'flow' | 'map' | 'list' | 'opaque', start: number, end: number, at: number,
 *   isOpen: boolean, indent: number}} Node
 * @typedef {{lineStart: number, indent: number}} Child
 */

export function createNode(kind, start, end, value) {
  return { kind, start, end, value, isOpen: false, children: [] };
}

export class YamlReader extends Reader {
  constructor(text) {
    super(text);
    this.anchors = new Set();
    const match = disallowedCharacter.exec(text.slice(this.pos));
    if (match !== null) this.refuse('This character is not allowed in YAML.', this.pos + match.index);
  }

  isAtLineEnd() {
    const next = this.text[this.pos];
    return next === undefined || next === '\n' || next === '\r';
  }

  /** Returns false unless the rest of the line is blank or a comment. */
  skipToLineEnd() {
    const start = this.pos;
    this.take(space);
    const isAfterSpace = this.pos === 0 || /[ \t\n\ufeff]/.test(this.text[this.pos - 1]);
    if (this.text[this.pos] === '#' && isAfterSpace) this.take(restOfLine);
    if (this.isAtLineEnd()) return true;
    this.pos = start;
    return false;
  }

  /** Parsers disagree about the meaning of a tab after the spaces. */
  readIndent() {
    const { length } = this.take(spaces);
    if (this.text[this.pos] === '\t') this.refuse('A tab is used as indentation.');
    return length;
  }

  takeProperties() {
    const kinds = new Set();
    for (let token = this.take(property); token !== ''; token = this.take(property)) {
      if (kinds.has(token[0])) this.refuse('The value has two anchors or tags.');
      kinds.add(token[0]);
      if (token[0] === '&') this.anchors.add(token.slice(1));
      if (this.take(space) === '' && !this.isAtLineEnd()) this.refuse('An anchor or tag is not followed by a space.');
    }
    return kinds.size > 0;
  }

  /** @param parent indentation that continuation lines must exceed */
  readQuoted(parent) {
    const start = this.pos;
    const quote = this.text[start];
    this.pos += 1;
    const parts = [];
    for (;;) {
      let run = this.take(quote === '"' ? doubleQuotedRun : singleQuotedRun);
      if (this.isAtLineEnd()) run = trimEnd(run);
      parts.push(run);
      if (this.takeText(quote)) {
        if (quote === '"' || !this.takeText("'")) return parts.join('');
        parts.push("'");
      } else if (this.text[this.pos] === '\\') {
        parts.push(this.readQuotedEscape(parent, start));
      } else {
        parts.push(this.foldLines(parent, start));
      }
    }
  }

  /** @param start offset of the scalar */
  readQuotedEscape(parent, start) {
    if (!/^\\[\r\n]/.test(this.text.slice(this.pos, this.pos + 2)))
      return this.readEscape(escapeSequence, escapedCharacters);
    this.pos += 1;
    return this.foldLines(parent, start).replace(' ', '');
  }

  /** Folds one line end into a space, and several into one line end fewer. */
  foldLines(parent, start) {
    let lines = 0;
    while (this.take(newline) !== '') {
      lines += 1;
      const indent = this.readIndent();
      if (!this.isAtLineEnd() && indent <= parent) this.refuse('The line is not indented enough for this string.');
    }
    if (lines === 0 || this.pos === this.text.length) this.refuse('The string does not end.', start);
    return lines === 1 ? ' ' : '\n'.repeat(lines - 1);
  }

  readPlain(parent) {
    const start = this.pos;
    const parts = [this.readPlainLine(true)];
    let end = this.pos;
    while (this.takePlainLineBreak(parent, parts)) {
      parts.push(this.readPlainLine(false));
      end = this.pos;
    }
    this.pos = end;
    const text = parts.join('');
    return createNode('scalar', start, end, parts.length === 1 ? comparablePlain(text) : `s${JSON.stringify(text)}`);
  }

  readPlainLine(isFirst) {
    const start = this.pos;
    const line = this.take(restOfLine);
    if (isFirst && cannotBePlain(line)) this.refuse('A value cannot begin like this.', start);
    const match = /[ \t]#|:(?=[ \t]|$)/.exec(line);
    if (match !== null && match[0] === ':') this.refuse('A second key is in this line.', start + match.index);
    const text = trimEnd(match === null ? line : line.slice(0, match.index));
    this.pos = start + text.length;
    return text;
  }

  takePlainLineBreak(parent, parts) {
    let lines = 0;
    let indent = 0;
    this.take(space);
    while (this.take(newline) !== '') {
      lines += 1;
      indent = this.readIndent();
    }
    if (lines === 0 || indent <= parent || this.isAtLineEnd() || this.text[this.pos] === '#') return false;
    parts.push(lines === 1 ? ' ' : '\n'.repeat(lines - 1));
    return true;
  }

  /** Does not interpret the lines of the scalar. */
  readBlockScalar(parent) {
    const start = this.pos;
    const header = this.take(blockHeader);
    if (!this.skipToLineEnd()) this.refuse('The block scalar does not begin here.');
    const indentIndicator = Number(/[1-9]|$/.exec(header)[0]);
    let indent = indentIndicator > 0 ? parent + indentIndicator : 0;
    let [end, maxBlankWidth] = [this.pos, 0];
    while (this.take(newline) !== '') {
      const line = this.pos;
      const width = this.take(spaces).length;
      if (this.isAtLineEnd() && (indent === 0 || width <= indent)) {
        maxBlankWidth = Math.max(maxBlankWidth, width);
        const isLine = width > 0 || this.pos < this.text.length;
        if (header.includes('+') && isLine) end = this.pos;
        continue;
      }
      if (indent === 0 && width > parent) indent = width;
      if (width < indent || width <= parent) {
        if (width > parent && this.text[this.pos] !== '#') this.refuse('The line is not indented enough.');
        if (this.text[this.pos] === '\t') this.refuse('A tab is used as indentation.');
        this.pos = line;
        break;
      }
      if (maxBlankWidth > indent) this.refuse('A blank line before this one has more spaces.', line);
      this.take(restOfLine);
      end = this.pos;
    }
    this.pos = end;
    return { ...createNode('block', start, end, '?'), isOpen: end === this.text.length && !header.includes('-') };
  }
}

const ambiguousTexts = [
  // Some YAML versions do not read these texts as strings.
  /^(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[yYnN]|=|<<)$/,
  /^[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/,
  /^[-+]?0[xob][0-9a-fA-F_]+$/,
  /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/,
  /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/,
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?$/,
];

/** A regular expression would take quadratic time. */
export function trimEnd(text) {
  let end = text.length;
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  return text.slice(0, end);
}

export function cannotBePlain(text) {
  return /^(?:[-?:](?:[ \t]|$)|[,[\]{}#&*!|>'"%@`])/.test(text);
}

export function comparablePlain(text) {
  if (/^(?:|~|null|Null|NULL)$/.test(text)) return 'null';
  if (/^(?:true|True|TRUE|false|False|FALSE)$/.test(text)) return text.toLowerCase();
  if (/^-?(?:0|[1-9][0-9]*)$/.test(text)) return `i${text}`;
  return ambiguousTexts.some((pattern) => pattern.test(text)) ? `p${text}` : `s${JSON.stringify(text)}`;
}
