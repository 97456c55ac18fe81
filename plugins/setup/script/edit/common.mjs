// Shared by all formats: refusals with positions, line ends, the byte order mark, and edits of a text.

/** The message is shown to the user and never contains a value from the file. */
export class Refusal extends Error {}

export function unlessRefused(action, otherwise) {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return otherwise(error);
  }
}

/** @throws Refusal with line and column of the offset */
export function refuse(text, offset, problem) {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  // Columns count characters, not UTF-16 units, and not the byte order mark.
  const column = [...before.slice(before.lastIndexOf('\n') + 1).replace('\ufeff', '')].length + 1;
  throw new Refusal(`line ${line}, column ${column}: ${problem}`);
}

export function readLineEnd(text) {
  const end = text.indexOf('\n');
  return end > 0 && text[end - 1] === '\r' ? '\r\n' : '\n';
}

export function setLineEnds(text, lineEnd) {
  return text.replace(/\r?\n/g, lineEnd);
}

function usesOnlyLineEnd(lineEnd, text) {
  return text.includes('\n') && setLineEnds(text, lineEnd) === text;
}

export function isEmpty(text) {
  return text === undefined || /^\ufeff?[ \t\r\n]*$/.test(text);
}

/** Formats add their own edits. `former` is the tree of the file without the settings. */
export class Edits {
  list = [];

  constructor(tree, former) {
    Object.assign(this, { tree, text: tree.text, former });
  }

  replace(start, end, text) {
    this.list.push({ start, end, text });
  }

  /** Adds whole lines at the start of a line, or after a last line without a line end. */
  insertLines(offset, lines) {
    this.replace(offset, offset, fitLines(this.text, offset, lines));
  }

  /** Returns a part of the original file, with the present line ends if all of them have changed since. */
  originalText(start, end) {
    const part = this.former.text.slice(start, end);
    const lineEnd = readLineEnd(this.text);
    const hasOtherLineEnds =
      usesOnlyLineEnd(lineEnd, this.text) && usesOnlyLineEnd(lineEnd === '\n' ? '\r\n' : '\n', this.former.text);
    return hasOtherLineEnds ? setLineEnds(part, lineEnd) : part;
  }

  /** @throws Refusal if setting the value, or adding to it, would lose data */
  requireMergeable() {}

  /** Edits at the same offset apply in order, insertions first. Removals may overlap. */
  apply() {
    const parts = [];
    let pos = 0;
    for (const edit of [...this.list].sort((one, other) => one.start - other.start || one.end - other.end)) {
      parts.push(this.text.slice(pos, edit.start), edit.text);
      pos = Math.max(pos, edit.end);
    }
    return parts.join('') + this.text.slice(pos);
  }

  /** Returns the text without the settings, or the original text if that was empty and nothing is left. */
  finish() {
    const text = this.apply();
    return isEmpty(text) && isEmpty(this.former.text) ? this.former.text : text;
  }
}

/** Returns lines with the text's line ends, and with one in front if the offset is inside a line. */
export function fitLines(text, offset, lines) {
  const lineEnd = readLineEnd(text);
  const isOpen = offset > 0 && text[offset - 1] !== '\n' && text[offset - 1] !== '\ufeff';
  return (isOpen ? lineEnd : '') + setLineEnds(lines, lineEnd);
}

/** Keeps the byte order mark of a file that had no other content. */
export function createContent({ text }, wanted) {
  return (text.startsWith('\ufeff') ? '\ufeff' : '') + wanted + (wanted.endsWith('\n') ? '' : '\n');
}

export function findLineStart(text, offset) {
  return offset <= 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** Returns the offset of the comments directly above a line. `comment` matches the start of a comment line. */
export function findComments(text, line, comment) {
  const first = text.startsWith('\ufeff') ? 1 : 0;
  let start = line;
  while (start > first) {
    const above = Math.max(findLineStart(text, start - 1), first);
    if (!comment.test(text.slice(above, start))) break;
    start = above;
  }
  return start;
}

export function isBlankAbove(text, offset) {
  if (offset === 0 || text.slice(0, offset) === '\ufeff') return true;
  return (
    text[offset - 1] === '\n' && /^\ufeff?[ \t]*\r?$/.test(text.slice(findLineStart(text, offset - 1), offset - 1))
  );
}

/** Commands parse the same texts several times. Callers must not modify a result. */
export function memoize(parse) {
  const cache = new Map();
  return (text) => {
    const cached = cache.get(text);
    if (cached !== undefined) return cached;
    if (cache.size >= 8) cache.clear();
    const parsed = parse(text);
    cache.set(text, parsed);
    return parsed;
  };
}

export function groupBy(elements, keyOf) {
  const groups = new Map();
  for (const element of elements) {
    const key = keyOf(element);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(element);
  }
  return groups;
}

/** `pos` is the offset of the next character. */
export class Reader {
  constructor(text) {
    this.text = text;
    this.pos = text.startsWith('\ufeff') ? 1 : 0;
  }

  /** Returns '' if the sticky pattern does not match. */
  take(pattern) {
    pattern.lastIndex = this.pos;
    const match = pattern.exec(this.text);
    if (match === null) return '';
    this.pos += match[0].length;
    return match[0];
  }

  takeText(expected) {
    if (!this.text.startsWith(expected, this.pos)) return false;
    this.pos += expected.length;
    return true;
  }

  /**
   * @param pattern sticky; matches a backslash with one character, or with a letter and the hexadecimal digits of a code point
   * @param characters what the character after the backslash stands for
   */
  readEscape(pattern, characters) {
    const start = this.pos;
    const sequence = this.take(pattern);
    if (sequence.length === 2) return characters[sequence[1]];
    const codePoint = sequence === '' ? -1 : parseInt(sequence.slice(2), 16);
    if ((codePoint >= 0 && codePoint < 0xd800) || (codePoint > 0xdfff && codePoint <= 0x10ffff))
      return String.fromCodePoint(codePoint);
    return this.refuse('The escape sequence is not valid.', start);
  }

  refuse(problem, offset = this.pos) {
    return refuse(this.text, offset, problem);
  }
}
