import type { PageReader } from './page.ts';

/** A cell, formatted for its reader. */
export interface TableCell {
  readonly text: string;
  /** Status icon before the text. */
  readonly kind?: 'ok' | 'warn' | 'bad' | 'info' | 'waiting' | undefined;
  readonly path?: string;
  /** True: the link is an action; otherwise it leads to the row's subject. */
  readonly isButton?: boolean;
  /** Machine-readable form of a text that is a time. */
  readonly iso?: string;
  readonly isCode?: boolean;
}

/** A column of a table, and its place on small screens. */
export interface TableColumn {
  readonly label: string;
  readonly isNumber?: boolean;
  /** True: on phones, where columns have no headings, the label precedes the value. */
  readonly isNamed?: boolean;
  /** True: hidden on tablets. */
  readonly isSpare?: boolean;
  /**
   * `id`: identifiers, shortened in the middle; `brief`: the same at half the width; `text`: wrapped sentences. Default: as wide as the
   * content.
   */
  readonly fit?: 'id' | 'brief' | 'text';
  /** Position in the two lines of a row on phones. */
  readonly at: 'title' | 'end' | 'note' | 'note-end' | 'below' | 'hide';
}

/** A table under a heading. */
export interface TableSection {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly TableCell[])[];
  /** A sentence below the table. */
  readonly note?: string;
  /** Links to the table's other pages; an empty path means that there is none. */
  readonly pages?:
    | { readonly shown: string; readonly previous: string; readonly previousLabel: string; readonly next: string }
    | undefined;
}

/** A column with its cells. Its label is a text key. */
export interface ColumnOf<Entry> extends TableColumn {
  /** Numbers and times are formatted; an empty value becomes a dash. */
  readonly cell: (entry: Entry) => TableCell | string | number | Date | undefined;
}

/**
 * Describes a table with a row for each entry.
 *
 * @param title text key
 */
export function describeTable<Entry>(
  { t, format, host }: PageReader,
  id: string,
  title: string,
  entries: readonly Entry[],
  columns: readonly ColumnOf<Entry>[],
): TableSection {
  const now = new Date(host.now());
  const formatCell = (value: ReturnType<ColumnOf<Entry>['cell']>): TableCell => {
    if (value instanceof Date) return { ...format.dayTime(value, now) };
    if (typeof value === 'object') return value;
    return { text: typeof value === 'number' ? format.number(value) : (value ?? '') };
  };
  return {
    id,
    title: t(title),
    columns: columns.map((column) => ({ ...column, label: t(column.label) })),
    rows: entries.map((entry) => columns.map(({ cell }) => formatCell(cell(entry)))),
  };
}

export function omitEmptySections(sections: readonly TableSection[]): TableSection[] {
  return sections.filter(({ rows }) => rows.length > 0);
}
