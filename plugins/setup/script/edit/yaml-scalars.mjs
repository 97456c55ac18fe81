// Scalars of YAML, and what surrounds them in a line. A value is read into a text that is equal for equal values: `s"a"`,
// `i42`, `[i1,i2]`; what is not read in full has the value `?`, which equals nothing.
import { Reader } from './common.mjs';

/** Allowed in a file: C1 controls and line ends that only some parsers know are not. */
const foreign = /[^\t\n\r -~\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]|\r(?!\n)/;
export const space = /[ \t]*/y;
const spaces = / */y;
export const newline = /\r?\n/y;
export const restOfLine = /[^\r\n]*/y;
const blockHeader = /[|>](?:[1-9][+-]?|[+-][1-9]?)?/y;
const property = /&[A-Za-z0-9_.-]+|!!?[A-Za-z][A-Za-z0-9_./:-]*|!/y;
const inDouble = /[^"\\\r\n]+/y;
const inSingle = /[^'\r\n]+/y;
const escape = /\\(?:[0abt\tnvfre "/\\N_LP]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})/y;
const escaped = {
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
 * A node of a file, see settings.mjs. `end` is behind its last character, `at` behind the colon or dash in front of it; `isOpen`
 * says that its value changes when a line end is added behind it, `indent` is the column of a list's dashes. An anchor, an alias
 * or a tag belongs to an `opaque` one.
 * @typedef {{kind: 'scalar' | 'block' | 'null' | 'flow' | 'map' | 'list' | 'opaque', start: number, end: number, at: number,
 *   isOpen: boolean, indent: number}} Node
 * @typedef {{lineStart: number, indent: number}} Child
 */

export function newNode(kind, start, end, value) {
  return { kind, start, end, value, isOpen: false, children: [] };
}

/** Reads what a node has in or from its first line. */
export class YamlReader extends Reader {
  constructor(text) {
    super(text);
    this.anchors = new Set();
    const found = foreign.exec(text.slice(this.pos));
    if (found !== null) this.refuse('This character is not allowed in YAML.', this.pos + found.index);
  }

  atLineEnd() {
    const next = this.text[this.pos];
    return next === undefined || next === '\n' || next === '\r';
  }

  /** Whether nothing but a comment is left in the line, which is passed over then. */
  hasOnlyComment() {
    const start = this.pos;
    this.take(space);
    const isApart = this.pos === 0 || /[ \t\n\ufeff]/.test(this.text[this.pos - 1]);
    if (this.text[this.pos] === '#' && isApart) this.take(restOfLine);
    if (this.atLineEnd()) return true;
    this.pos = start;
    return false;
  }

  /** The spaces at the start of a line. Parsers differ in what a tab behind them means. */
  indentation() {
    const { length } = this.take(spaces);
    if (this.text[this.pos] === '\t') this.refuse('A tab is used as indentation.');
    return length;
  }

  /** An anchor and a tag before a node. */
  takeProperties() {
    const kinds = new Set();
    for (let found = this.take(property); found !== ''; found = this.take(property)) {
      if (kinds.has(found[0])) this.refuse('The value has two anchors or tags.');
      kinds.add(found[0]);
      if (found[0] === '&') this.anchors.add(found.slice(1));
      if (this.take(space) === '' && !this.atLineEnd()) this.refuse('An anchor or tag is not followed by a space.');
    }
    return kinds.size > 0;
  }

  /** @param parent the indentation that further lines must exceed */
  quoted(parent) {
    const start = this.pos;
    const quote = this.text[start];
    this.pos += 1;
    const parts = [];
    for (;;) {
      let run = this.take(quote === '"' ? inDouble : inSingle);
      if (this.atLineEnd()) run = trimEnd(run);
      parts.push(run);
      if (this.has(quote)) {
        if (quote === '"' || !this.has("'")) return parts.join('');
        parts.push("'");
      } else if (this.text[this.pos] === '\\') {
        parts.push(this.escape(parent, start));
      } else {
        parts.push(this.fold(parent, start));
      }
    }
  }

  /**
   * Decodes an escape sequence.
   *
   * @param start of the scalar
   */
  escape(parent, start) {
    if (!/^\\[\r\n]/.test(this.text.slice(this.pos, this.pos + 2))) return this.unescape(escape, escaped);
    this.pos += 1;
    return this.fold(parent, start).replace(' ', '');
  }

  /** Line ends within a quoted scalar: one is a space, several are one less. */
  fold(parent, start) {
    let lines = 0;
    while (this.take(newline) !== '') {
      lines += 1;
      const indent = this.indentation();
      if (!this.atLineEnd() && indent <= parent) this.refuse('The line is not indented enough for this string.');
    }
    if (lines === 0 || this.pos === this.text.length) this.refuse('The string does not end.', start);
    return lines === 1 ? ' ' : '\n'.repeat(lines - 1);
  }

  plain(parent) {
    const start = this.pos;
    const parts = [this.plainLine(true)];
    let end = this.pos;
    while (this.toNextLine(parent, parts)) {
      parts.push(this.plainLine(false));
      end = this.pos;
    }
    this.pos = end;
    const text = parts.join('');
    return newNode('scalar', start, end, parts.length === 1 ? plainValue(text) : `s${JSON.stringify(text)}`);
  }

  plainLine(isFirst) {
    const start = this.pos;
    const line = this.take(restOfLine);
    if (isFirst && cannotBePlain(line)) this.refuse('A value cannot begin like this.', start);
    const found = /[ \t]#|:(?=[ \t]|$)/.exec(line);
    if (found !== null && found[0] === ':') this.refuse('A second key is in this line.', start + found.index);
    const text = trimEnd(found === null ? line : line.slice(0, found.index));
    this.pos = start + text.length;
    return text;
  }

  /** To the next line of a plain scalar, if there is one. The text of the line ends is added to `parts`. */
  toNextLine(parent, parts) {
    let lines = 0;
    let indent = 0;
    this.take(space);
    while (this.take(newline) !== '') {
      lines += 1;
      indent = this.indentation();
    }
    if (lines === 0 || indent <= parent || this.atLineEnd() || this.text[this.pos] === '#') return false;
    parts.push(lines === 1 ? ' ' : '\n'.repeat(lines - 1));
    return true;
  }

  /** A literal or folded scalar, whose lines are not interpreted. */
  block(parent) {
    const start = this.pos;
    const header = this.take(blockHeader);
    if (!this.hasOnlyComment()) this.refuse('The block scalar does not begin here.');
    const explicit = Number(/[1-9]|$/.exec(header)[0]);
    let indent = explicit > 0 ? parent + explicit : 0;
    let [end, blanks] = [this.pos, 0];
    while (this.take(newline) !== '') {
      const line = this.pos;
      const width = this.take(spaces).length;
      if (this.atLineEnd() && (indent === 0 || width <= indent)) {
        blanks = Math.max(blanks, width);
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
      if (blanks > indent) this.refuse('A blank line before this one has more spaces.', line);
      this.take(restOfLine);
      end = this.pos;
    }
    this.pos = end;
    return { ...newNode('block', start, end, '?'), isOpen: end === this.text.length && !header.includes('-') };
  }
}

/** Plain texts that some version of YAML does not take for a string. */
const special = [
  /^(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[yYnN]|=|<<)$/,
  /^[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/,
  /^[-+]?0[xob][0-9a-fA-F_]+$/,
  /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/,
  /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/,
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?$/,
];

/** Without spaces and tabs at its end. An expression would try every run of them. */
export function trimEnd(text) {
  let end = text.length;
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end -= 1;
  return text.slice(0, end);
}

export function cannotBePlain(text) {
  return /^(?:[-?:](?:[ \t]|$)|[,[\]{}#&*!|>'"%@`])/.test(text);
}

export function plainValue(text) {
  if (/^(?:|~|null|Null|NULL)$/.test(text)) return 'null';
  if (/^(?:true|True|TRUE|false|False|FALSE)$/.test(text)) return text.toLowerCase();
  if (/^-?(?:0|[1-9][0-9]*)$/.test(text)) return `i${text}`;
  return special.some((pattern) => pattern.test(text)) ? `p${text}` : `s${JSON.stringify(text)}`;
}
