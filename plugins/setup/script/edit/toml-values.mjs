// Values and keys of TOML 1.1. A value is read into a text that is equal for equal values: `s"a"`, `i42`, `[i1,i2]`.
import { Reader } from './common.mjs';

/** Deeper nesting is refused, before it exhausts the stack. */
const maxDepth = 64;

const space = /[ \t]*/y;
const bareKey = /[A-Za-z0-9_-]+/y;
const bareValue = /[A-Za-z0-9_+.:-]+/y;
const timeAfterSpace = / [0-9]{2}:[A-Za-z0-9_+.:-]*/y;
const lineEnd = /\r?\n/y;
const gap = /(?:[ \t]+|\r?\n|#[\t -~\x80-\uffff]*)*/y;
const restOfLine = /[ \t]*(?:#[\t -~\x80-\uffff]*)?(?:\r?\n)?/y;
/** Characters without a special meaning, by kind of string. */
const plain = {
  '"': /[\t !#-[\]-~\x80-\uffff]+/y,
  "'": /[\t -&(-~\x80-\uffff]+/y,
  '"""': /[\t\n !#-[\]-~\x80-\uffff]+/y,
  "'''": /[\t\n -&(-~\x80-\uffff]+/y,
};
const escape = /\\(?:[btnfre"\\]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})/y;
const joinedLines = /\\[ \t]*\r?\n(?:[ \t]|\r?\n)*/y;
const escaped = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b', '"': '"', '\\': '\\' };

const integer =
  /^(?:[+-]?(?:0|[1-9](?:_?[0-9])*)|0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*)$/;
const float = /^[+-]?(?:inf|nan|(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?)$/;
const time = '(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\\.[0-9]+)?)?';
const date = '[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])';
const moment = new RegExp(`^(?:${time}|${date}(?:[Tt ]${time}(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?)$`);

export class TomlReader extends Reader {
  skipSpace() {
    this.take(space);
  }

  skipGap() {
    this.take(gap);
  }

  endLine() {
    const isEnded = this.take(restOfLine).endsWith('\n') || this.pos === this.text.length;
    if (!isEnded) this.refuse('The line continues unexpectedly.');
  }

  keys() {
    const keys = [];
    do {
      this.skipSpace();
      keys.push(this.key());
      this.skipSpace();
    } while (this.has('.'));
    return keys;
  }

  key() {
    const quote = this.text[this.pos];
    if (quote === '"' || quote === "'") return this.string(quote);
    return this.take(bareKey) || this.refuse('A key is missing.');
  }

  value(depth = 0) {
    if (depth > maxDepth) this.refuse('Values are nested too deeply.');
    const quote = this.text[this.pos];
    if (quote === '"' || quote === "'") {
      const isLong = this.text.startsWith(quote.repeat(3), this.pos);
      return `s${JSON.stringify(this.string(isLong ? quote.repeat(3) : quote))}`;
    }
    if (this.has('[')) return this.array(depth);
    if (this.has('{')) return this.inlineTable(depth);
    return this.bare();
  }

  bare() {
    const start = this.pos;
    let word = this.take(bareValue);
    if (word.length === 10 && moment.test(word)) word += this.take(timeAfterSpace);
    if (word === 'true' || word === 'false') return word;
    // Longer ones have more than 64 bits.
    if (integer.test(word) && word.length <= 70) return `i${BigInt(word.replace(/_/g, ''))}`;
    if (float.test(word) && !integer.test(word)) return `f${word.replace(/_/g, '').toLowerCase()}`;
    if (moment.test(word)) return `d${word}`;
    return this.refuse('A value is missing or not valid.', start);
  }

  array(depth) {
    const values = [];
    for (;;) {
      this.skipGap();
      if (this.has(']')) return `[${values.join()}]`;
      values.push(this.value(depth + 1));
      this.skipGap();
      if (this.text[this.pos] !== ']' && !this.has(',')) this.refuse('The array does not end.');
    }
  }

  inlineTable(depth) {
    const table = new Map();
    for (;;) {
      this.skipGap();
      if (this.has('}')) return canonical(table);
      const start = this.pos;
      const keys = this.keys();
      if (!this.has('=')) this.refuse('An equals sign is missing.');
      this.skipSpace();
      if (!put(table, keys, this.value(depth + keys.length))) this.refuse('The key is there twice.', start);
      this.skipGap();
      if (this.text[this.pos] !== '}' && !this.has(',')) this.refuse('The inline table does not end.');
    }
  }

  /** @param quote which begins and ends it, one or three characters */
  string(quote) {
    const start = this.pos;
    const parts = [];
    this.pos += quote.length;
    if (quote.length === 3) this.take(lineEnd);
    for (;;) {
      parts.push(this.take(plain[quote]));
      if (this.has(quote)) return parts.join('') + this.lastQuotes(quote);
      if (this.text[this.pos] === '\\') parts.push(this.escape(quote));
      else if (quote.length === 3 && this.has(quote[0])) parts.push(quote[0]);
      else if (quote.length === 3 && this.take(lineEnd) !== '') parts.push('\n');
      else this.refuse('The string does not end.', start);
    }
  }

  /** Up to two quotes before the closing three belong to the string. */
  lastQuotes(quote) {
    let more = '';
    while (quote.length === 3 && more.length < 2 && this.has(quote[0])) more += quote[0];
    return more;
  }

  escape(quote) {
    return quote === '"""' && this.take(joinedLines) !== '' ? '' : this.unescape(escape, escaped);
  }
}

/** Puts a value into nested tables. False when its place is taken. */
function put(table, keys, value) {
  let inner = table;
  for (const key of keys.slice(0, -1)) {
    if (!inner.has(key)) inner.set(key, new Map());
    inner = inner.get(key);
    if (!(inner instanceof Map)) return false;
  }
  const last = keys[keys.length - 1];
  if (inner.has(last)) return false;
  inner.set(last, value);
  return true;
}

function canonical(table) {
  if (!(table instanceof Map)) return table;
  return `{${[...table].map(([key, value]) => `${JSON.stringify(key)}:${canonical(value)}`).sort()}}`;
}
