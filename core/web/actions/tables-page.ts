import type { Page, PageRequest } from '../pages/page.ts';
import { type TableSection, withRows } from '../pages/table.ts';
import { describeDone } from './action-page.ts';

/** What a page of tables shows. */
interface Shown {
  readonly lead?: string;
  /** Sentences below the lead. */
  readonly notes?: readonly string[];
  /** Those without rows are left out. A table with the title of the page needs no heading. */
  readonly sections: readonly TableSection[];
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
    styles: ['operator.css', 'tables.css'],
    async show(request) {
      const { t } = request;
      const { lead = '', notes = [], sections, isEmpty = sections[0]?.rows.length === 0 } = await read(request);
      return {
        back: { path: back.path, label: t(back.label) },
        heading: t(page.title),
        action: action && { path: action.path, label: t(action.label) },
        lead,
        notes,
        done: describeDone(request),
        none: isEmpty ? { title: t(none[0]), text: t(none[1]) } : undefined,
        sections: withRows(sections),
      };
    },
  };
}
