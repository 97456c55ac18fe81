/** Something that a person must decide or mend, ready to be printed. */
export interface Need {
  readonly status: { readonly kind: string; readonly text: string };
  readonly pieces: readonly TextPiece[];
  /** Undefined where nobody knows. */
  readonly since: { readonly iso: string; readonly text: string } | undefined;
  /** Where it is mended. */
  readonly step: { readonly path: string; readonly text: string; readonly label: string };
}

/** A piece of a sentence for a template. */
export interface TextPiece {
  readonly text: string;
  readonly isStrong?: boolean;
  /** Words that no language but English has, such as mistakes in gateway.yaml. */
  readonly isEnglish?: boolean;
  readonly path?: string;
}

/** Splits a text at `*`, which stands around what matters most in it: `paid *Rp 59.000* of *Rp 95.000*`. */
export function readEmphasis(text: string): TextPiece[] {
  return text
    .split('*')
    .map((piece, index) => ({ text: piece, isStrong: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}
