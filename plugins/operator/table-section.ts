/** A cell, ready to be printed. */
export interface TableCell {
  readonly text: string;
  /** An icon of a status before the text. */
  readonly kind?: 'ok' | 'warn' | 'bad' | 'info' | 'waiting' | undefined;
  readonly path?: string;
  /** For machines, where the text is a time. */
  readonly iso?: string;
  readonly isCode?: boolean;
}

export interface TableColumn {
  readonly label: string;
  readonly isNumber?: boolean;
  /** True: on phones, where columns have no heads, its label stands before the value. */
  readonly isNamed?: boolean;
  /** `id`: identifiers, shortened in the middle; `text`: sentences, wrapped. Others are as wide as what they hold. */
  readonly fit?: 'id' | 'text';
  /** Its position in the two lines of a row on phones. */
  readonly at: 'title' | 'end' | 'note' | 'note-end' | 'below' | 'hide';
}

/** A table under a heading. */
export interface TableSection {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly TableCell[])[];
}

/** Those that have rows. */
export function withRows(sections: readonly TableSection[]): TableSection[] {
  return sections.filter(({ rows }) => rows.length > 0);
}
