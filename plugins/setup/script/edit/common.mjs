// Shared by the formats: refusals with a place, line ends, the byte order mark.

/** A file that cannot be read exactly or changed safely. The message is for the user and never contains a value. */
export class Refusal extends Error {}

/** Returns the result of an action or, if it throws a Refusal, the result of `otherwise`. */
export function unlessRefused(action, otherwise) {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return otherwise(error);
  }
}

/** @param text the whole file @param offset where in it, as an index of `text` @param what what was found there */
export function refuse(text, offset, what) {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  // Columns count characters, not UTF-16 units. A byte order mark is not one.
  const column = [...before.slice(before.lastIndexOf('\n') + 1).replace('\ufeff', '')].length + 1;
  throw new Refusal(`line ${line}, column ${column}: ${what}`);
}

/** Returns the line end of a text's first line. */
export function lineEndOf(text) {
  const end = text.indexOf('\n');
  return end > 0 && text[end - 1] === '\r' ? '\r\n' : '\n';
}

export function withLineEnds(text, lineEnd) {
  return text.replace(/\r?\n/g, lineEnd);
}

/** Whether every line of a text ends like this, and one does. */
function hasOnly(lineEnd, text) {
  return text.includes('\n') && withLineEnds(text, lineEnd) === text;
}

/** Whether a file has no content: absent, empty or whitespace. */
export function isEmpty(text) {
  return text === undefined || /^\ufeff?[ \t\r\n]*$/.test(text);
}

/** Changes of a file, of which each format prints the others. `former` is the tree of the file without the settings. */
export class Edits {
  list = [];

  constructor(tree, former) {
    Object.assign(this, { tree, text: tree.text, former });
  }

  replace(start, end, text) {
    this.list.push({ start, end, text });
  }

  /** Adds whole lines at the start of a line, or after a last line that has no end. */
  insertLines(offset, lines) {
    this.replace(offset, offset, linesAt(this.text, offset, lines));
  }

  /** A part of the file of before, with the line ends of the present one if all of them were changed since. */
  formerText(start, end) {
    const part = this.former.text.slice(start, end);
    const lineEnd = lineEndOf(this.text);
    const isOther = hasOnly(lineEnd, this.text) && hasOnly(lineEnd === '\n' ? '\r\n' : '\n', this.former.text);
    return isOther ? withLineEnds(part, lineEnd) : part;
  }

  /** A value of a file that a setting is to replace, or to be put into. @throws Refusal where that would lose something */
  requireFit() {}

  /** The changed text. Edits at the same place follow each other in their order, insertions first; removals may overlap. */
  result() {
    const parts = [];
    let pos = 0;
    for (const edit of [...this.list].sort((one, other) => one.start - other.start || one.end - other.end)) {
      parts.push(this.text.slice(pos, edit.start), edit.text);
      pos = Math.max(pos, edit.end);
    }
    return parts.join('') + this.text.slice(pos);
  }

  /** Returns the text without the settings; the original text if it was empty and is empty again. */
  finish() {
    const text = this.result();
    return isEmpty(text) && isEmpty(this.former.text) ? this.former.text : text;
  }
}

/** Lines as they are added at the start of a line, or after a last line that has no end. */
export function linesAt(text, offset, lines) {
  const lineEnd = lineEndOf(text);
  const isOpen = offset > 0 && text[offset - 1] !== '\n' && text[offset - 1] !== '\ufeff';
  return (isOpen ? lineEnd : '') + withLineEnds(lines, lineEnd);
}

/** The settings as the text of a file that had no content. */
export function fillEmpty({ text }, wanted) {
  return (text.startsWith('\ufeff') ? '\ufeff' : '') + wanted + (wanted.endsWith('\n') ? '' : '\n');
}

/** Where the line begins that holds the character at an offset. */
export function startOfLine(text, offset) {
  return offset <= 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** Where the comments begin that stand directly above a line. @param comment what a line of them begins with */
export function introductionOf(text, line, comment) {
  const first = text.startsWith('\ufeff') ? 1 : 0;
  let start = line;
  while (start > first) {
    const above = Math.max(startOfLine(text, start - 1), first);
    if (!comment.test(text.slice(above, start))) break;
    start = above;
  }
  return start;
}

/** Whether the line that ends at an offset is blank, or there is no such line. */
export function isBlankAbove(text, offset) {
  if (offset === 0 || text.slice(0, offset) === '\ufeff') return true;
  return text[offset - 1] === '\n' && /^\ufeff?[ \t]*\r?$/.test(text.slice(startOfLine(text, offset - 1), offset - 1));
}

/**
 * A reader of whole texts that keeps its results. A command reads the same few texts several times, and never changes
 * a result.
 */
export function memoize(read) {
  const known = new Map();
  return (text) => {
    const result = known.get(text);
    if (result !== undefined) return result;
    if (known.size >= 8) known.clear();
    const fresh = read(text);
    known.set(text, fresh);
    return fresh;
  };
}

/** The elements by a text: a comparison of all with each other takes long in a long list. */
export function groupBy(elements, textOf) {
  const groups = new Map();
  for (const element of elements) {
    const text = textOf(element);
    if (!groups.has(text)) groups.set(text, []);
    groups.get(text).push(element);
  }
  return groups;
}

/** Reads a text from front to back; `pos` is the next character. */
export class Reader {
  constructor(text) {
    this.text = text;
    this.pos = text.startsWith('\ufeff') ? 1 : 0;
  }

  /** @param pattern a sticky one; what it matches is passed over and returned */
  take(pattern) {
    pattern.lastIndex = this.pos;
    const match = pattern.exec(this.text);
    if (match === null) return '';
    this.pos += match[0].length;
    return match[0];
  }

  /** Whether this text comes next, which is then passed over. */
  has(expected) {
    if (!this.text.startsWith(expected, this.pos)) return false;
    this.pos += expected.length;
    return true;
  }

  /**
   * The character that an escape sequence of TOML or YAML stands for.
   *
   * @param pattern a sticky one for all sequences of the format: one character behind the backslash, or a letter and
   *   a code point in hexadecimal digits
   * @param named the characters by the one behind the backslash
   */
  unescape(pattern, named) {
    const start = this.pos;
    const sequence = this.take(pattern);
    if (sequence.length === 2) return named[sequence[1]];
    const point = sequence === '' ? -1 : parseInt(sequence.slice(2), 16);
    if ((point >= 0 && point < 0xd800) || (point > 0xdfff && point <= 0x10ffff)) return String.fromCodePoint(point);
    return this.refuse('The escape sequence is not valid.', start);
  }

  refuse(what, at = this.pos) {
    return refuse(this.text, at, what);
  }
}
