import type { PageReader } from './page.ts';

export interface TableCell {
  readonly text: string;
  /** Status icon in front of the text. */
  readonly kind?: 'ok' | 'warn' | 'bad' | 'info' | 'waiting' | undefined;
  readonly path?: string;
  /** True if the link performs an action; otherwise it leads to the row's subject. */
  readonly isButton?: boolean;
  /** If the text is a time, its machine-readable form. */
  readonly iso?: string;
  readonly isCode?: boolean;
}

/** A table column, and the place of its cells on small screens. */
export interface TableColumn {
  readonly label: string;
  readonly isNumber?: boolean;
  /** True to put the label in front of the value on phones, where columns have no headings. */
  readonly isNamed?: boolean;
  /** True to hide the column on tablets. */
  readonly isSpare?: boolean;
  /**
   * `id`: identifiers, shortened in the middle; `brief`: the same at half the width; `text`: sentences, wrapped. Default: fits the content.
   */
  readonly fit?: 'id' | 'brief' | 'text';
  /** Where the cell goes in the two lines that a row takes on phones. */
  readonly at: 'title' | 'end' | 'note' | 'note-end' | 'below' | 'hide';
}

export interface TableSection {
  readonly id: string;
  readonly title: string;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly TableCell[])[];
  /** A sentence below the table. */
  readonly note?: string;
  /** Links to the table's other pages; an empty path means that there is no such page. */
  readonly pages?:
    | { readonly shown: string; readonly previous: string; readonly previousLabel: string; readonly next: string }
    | undefined;
}

/** A column and how to compute its cells. Its label is a text key. */
export interface ColumnOf<Entry> extends TableColumn {
  /** Numbers and times are formatted; an empty value is shown as a dash. */
  readonly cell: (entry: Entry) => TableCell | string | number | Date | undefined;
}

/** Describes a table with one row per entry. `title` is a text key. */
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
