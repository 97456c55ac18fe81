import type { Page, PageRequest } from '../pages/page.ts';
import { type TableSection, withRows } from '../pages/table.ts';

/** Links between views of a page. */
interface Segments {
  readonly label: string;
  readonly links: readonly { readonly path: string; readonly label: string; readonly isCurrent: boolean }[];
}

/** What a page of tables shows. */
interface Shown {
  readonly lead?: string;
  /** Sentences below the lead. */
  readonly notes?: readonly string[];
  /** Those without rows are left out. A table with the title of the page needs no heading. */
  readonly sections: readonly TableSection[];
  /** Ways to group or narrow what is shown, beside the heading. */
  readonly segments?: readonly Segments[];
  /** A sentence below the tables, where there are any. */
  readonly below?: string;
  /** Default: the first table has no rows. */
  readonly isEmpty?: boolean;
}

interface TablesPage extends Pick<Page, 'path' | 'title' | 'within'> {
  /** The page above it; its label is a key of the texts, as are the others. */
  readonly back: { readonly path: string; readonly label: string };
  readonly none: readonly [title: string, text: string];
  /** A page beside the heading. */
  readonly action?: { readonly path: string; readonly label: string };
  read(request: PageRequest): Promise<Shown>;
}

/** Describes a page of operators with tables below each other, and what has been done. */
export function tablesPage({ back, none, action, read, ...page }: TablesPage): Page {
  return {
    ...page,
    role: 'operator',
    template: 'parts/tables.eta',
    async show(request) {
      const { t } = request;
      const { below = '', sections, isEmpty = sections[0]?.rows.length === 0, ...shown } = await read(request);
      return {
        lead: '',
        notes: [],
        segments: [],
        ...shown,
        back: { path: back.path, label: t(back.label) },
        heading: t(page.title),
        action: action && { path: action.path, label: t(action.label) },
        below: isEmpty ? '' : below,
        none: isEmpty ? { title: t(none[0]), text: t(none[1]) } : undefined,
        sections: withRows(sections),
      };
    },
  };
}
