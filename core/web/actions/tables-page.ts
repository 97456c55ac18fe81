import type { Page, PageRequest } from '../pages/page.ts';
import { type TableSection, omitEmptySections } from '../pages/table.ts';

/** Links between views of a page. */
interface Segments {
  readonly label: string;
  readonly links: readonly { readonly path: string; readonly label: string; readonly isCurrent: boolean }[];
}

interface TablesContent {
  readonly lead?: string;
  /** Sentences below the lead. */
  readonly notes?: readonly string[];
  /** Tables; empty ones are left out. A table that has the page's title needs no heading. */
  readonly sections: readonly TableSection[];
  /** Controls next to the heading that group or filter the tables. */
  readonly segments?: readonly Segments[];
  /** A sentence below the tables, shown if there are any tables. */
  readonly below?: string;
  /** Default: true if the first table has no rows. */
  readonly isEmpty?: boolean;
}

interface TablesPage extends Pick<Page, 'path' | 'title'> {
  /** The listed page that it belongs to. All labels here are keys of texts. */
  readonly back: { readonly path: string; readonly label: string };
  readonly none: readonly [title: string, text: string];
  /** Link next to the heading. */
  readonly action?: { readonly path: string; readonly label: string };
  read(request: PageRequest): Promise<TablesContent>;
}

/** Creates an operator page with tables below each other and the confirmation of a completed action. */
export function tablesPage({ back, none, action, read, ...page }: TablesPage): Page {
  return {
    ...page,
    within: back.path,
    role: 'operator',
    template: 'parts/tables.eta',
    async show(request) {
      const { t } = request;
      const { below = '', sections, isEmpty = sections[0]?.rows.length === 0, ...content } = await read(request);
      return {
        lead: '',
        notes: [],
        segments: [],
        ...content,
        back: { path: back.path, label: t(back.label) },
        heading: t(page.title),
        action: action && { path: action.path, label: t(action.label) },
        below: isEmpty ? '' : below,
        none: isEmpty ? { title: t(none[0]), text: t(none[1]) } : undefined,
        sections: omitEmptySections(sections),
      };
    },
  };
}
