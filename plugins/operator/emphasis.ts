/** A piece of a sentence for a template. */
export interface TextPiece {
  readonly text: string;
  readonly isStrong: boolean;
}

/** Splits a text at `*`, which stands around what matters most in it: `paid *Rp 59.000* of *Rp 95.000*`. */
export function readEmphasis(text: string): TextPiece[] {
  return text
    .split('*')
    .map((piece, index) => ({ text: piece, isStrong: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}
