// Values and keys of TOML 1.1. For comparison, a value becomes a text: `s"a"`, `i42`, `[i1,i2]`.

import { Reader } from './common.mjs';

const maxDepth = 64; // deeper nesting could exhaust the stack

const space = /[ \t]*/y;
const bareKey = /[A-Za-z0-9_-]+/y;
const bareValue = /[A-Za-z0-9_+.:-]+/y;
const timeAfterSpace = / [0-9]{2}:[A-Za-z0-9_+.:-]*/y;
const lineEnd = /\r?\n/y;
const spaceAndComments = /(?:[ \t]+|\r?\n|#[\t -~\x80-\uffff]*)*/y;
const restOfLine = /[ \t]*(?:#[\t -~\x80-\uffff]*)?(?:\r?\n)?/y;
const plainCharacters = {
  '"': /[\t !#-[\]-~\x80-\uffff]+/y,
  "'": /[\t -&(-~\x80-\uffff]+/y,
  '"""': /[\t\n !#-[\]-~\x80-\uffff]+/y,
  "'''": /[\t\n -&(-~\x80-\uffff]+/y,
};
const escapeSequence = /\\(?:[btnfre"\\]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})/y;
const lineContinuation = /\\[ \t]*\r?\n(?:[ \t]|\r?\n)*/y;
const escapedCharacters = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\x1b', '"': '"', '\\': '\\' };

const integer =
  /^(?:[+-]?(?:0|[1-9](?:_?[0-9])*)|0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*)$/;
const float = /^[+-]?(?:inf|nan|(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?)$/;
const time = '(?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\\.[0-9]+)?)?';
const date = '[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])';
const dateOrTime = new RegExp(`^(?:${time}|${date}(?:[Tt ]${time}(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?)$`);

export class TomlReader extends Reader {
  skipSpace() {
    this.take(space);
  }

  skipSpaceAndComments() {
    this.take(spaceAndComments);
  }

  endLine() {
    const isEnded = this.take(restOfLine).endsWith('\n') || this.pos === this.text.length;
    if (!isEnded) this.refuse('The line continues unexpectedly.');
  }

  readKeys() {
    const keys = [];
    do {
      this.skipSpace();
      keys.push(this.readKey());
      this.skipSpace();
    } while (this.takeText('.'));
    return keys;
  }

  readKey() {
    const quote = this.text[this.pos];
    if (quote === '"' || quote === "'") return this.readString(quote);
    return this.take(bareKey) || this.refuse('A key is missing.');
  }

  readValue(depth = 0) {
    if (depth > maxDepth) this.refuse('Values are nested too deeply.');
    const quote = this.text[this.pos];
    if (quote === '"' || quote === "'") {
      const isLong = this.text.startsWith(quote.repeat(3), this.pos);
      return `s${JSON.stringify(this.readString(isLong ? quote.repeat(3) : quote))}`;
    }
    if (this.takeText('[')) return this.readArray(depth);
    if (this.takeText('{')) return this.readInlineTable(depth);
    return this.readBareValue();
  }

  readBareValue() {
    const start = this.pos;
    let word = this.take(bareValue);
    if (word.length === 10 && dateOrTime.test(word)) word += this.take(timeAfterSpace);
    if (word === 'true' || word === 'false') return word;
    // Longer literals exceed 64 bits.
    if (integer.test(word) && word.length <= 70) return `i${BigInt(word.replace(/_/g, ''))}`;
    if (float.test(word) && !integer.test(word)) return `f${word.replace(/_/g, '').toLowerCase()}`;
    if (dateOrTime.test(word)) return `d${word}`;
    return this.refuse('A value is missing or not valid.', start);
  }

  readArray(depth) {
    const values = [];
    for (;;) {
      this.skipSpaceAndComments();
      if (this.takeText(']')) return `[${values.join()}]`;
      values.push(this.readValue(depth + 1));
      this.skipSpaceAndComments();
      if (this.text[this.pos] !== ']' && !this.takeText(',')) this.refuse('The array does not end.');
    }
  }

  readInlineTable(depth) {
    const table = new Map();
    for (;;) {
      this.skipSpaceAndComments();
      if (this.takeText('}')) return comparableTable(table);
      const start = this.pos;
      const keys = this.readKeys();
      if (!this.takeText('=')) this.refuse('An equals sign is missing.');
      this.skipSpace();
      if (!setNested(table, keys, this.readValue(depth + keys.length))) this.refuse('The key is there twice.', start);
      this.skipSpaceAndComments();
      if (this.text[this.pos] !== '}' && !this.takeText(',')) this.refuse('The inline table does not end.');
    }
  }

  /** @param quote the quote at both ends, one or three characters */
  readString(quote) {
    const start = this.pos;
    const parts = [];
    this.pos += quote.length;
    if (quote.length === 3) this.take(lineEnd);
    for (;;) {
      parts.push(this.take(plainCharacters[quote]));
      if (this.takeText(quote)) return parts.join('') + this.takeFinalQuotes(quote);
      if (this.text[this.pos] === '\\') parts.push(this.readStringEscape(quote));
      else if (quote.length === 3 && this.takeText(quote[0])) parts.push(quote[0]);
      else if (quote.length === 3 && this.take(lineEnd) !== '') parts.push('\n');
      else this.refuse('The string does not end.', start);
    }
  }

  takeFinalQuotes(quote) {
    // Up to two quotes before the closing three belong to the string.
    let quotes = '';
    while (quote.length === 3 && quotes.length < 2 && this.takeText(quote[0])) quotes += quote[0];
    return quotes;
  }

  readStringEscape(quote) {
    return quote === '"""' && this.take(lineContinuation) !== ''
      ? ''
      : this.readEscape(escapeSequence, escapedCharacters);
  }
}

function setNested(table, keys, value) {
  let target = table;
  for (const key of keys.slice(0, -1)) {
    if (!target.has(key)) target.set(key, new Map());
    target = target.get(key);
    if (!(target instanceof Map)) return false;
  }
  const last = keys[keys.length - 1];
  if (target.has(last)) return false;
  target.set(last, value);
  return true;
}

function comparableTable(table) {
  if (!(table instanceof Map)) return table;
  return `{${[...table].map(([key, value]) => `${JSON.stringify(key)}:${comparableTable(value)}`).sort()}}`;
}
