/** Part of a code sample, to be colored by its kind. */
export interface CodePiece {
  readonly kind: '' | 'comment' | 'string';
  readonly text: string;
}

/** A comment (`#` or `//` at the start of a line or after a space), or a string within one line. */
const coloredPiece = /((?<=^|\s)#.*$|(?<=^|\s)\/\/.*$)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/gm;

/** Splits a shell, Python, TypeScript or JSON sample into comments, strings and other text. */
export function codePieces(text: string): CodePiece[] {
  const pieces: CodePiece[] = [];
  let end = 0;
  for (const match of text.matchAll(coloredPiece)) {
    if (match.index > end) pieces.push({ kind: '', text: text.slice(end, match.index) });
    pieces.push({ kind: match[1] === undefined ? 'string' : 'comment', text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ kind: '', text: text.slice(end) });
  return pieces;
}
