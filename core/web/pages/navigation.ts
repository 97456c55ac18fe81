import type { IconName } from './icons.ts';

/** How a page is listed in the layout of its role. */
export interface Navigation {
  /** Key of a text. */
  readonly label: string;
  /** For the bar at the bottom of phones. */
  readonly icon?: IconName;
  /** Ascending; 100 when left out. */
  readonly order?: number;
  /** `main`: in the header. `menu`: in the menu of the account. `main` when left out. */
  readonly place?: 'main' | 'menu';
  /** Where it leads; the page's own path when left out. For parts of a page: `/#plans`. */
  readonly path?: string;
  /** Paths of pages that it leads to and that are not below its own: it is marked there, too. */
  readonly covers?: readonly string[];
}
