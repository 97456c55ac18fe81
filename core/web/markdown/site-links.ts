import type { PageTexts } from './markdown-page.ts';
import type { PageRequest } from '../pages/page.ts';

/** Paths of texts of the shop that the footer, the sign-in and the checkout link. Those of gateway.yaml come first. */
export interface SiteLinks {
  readonly terms?: string;
  readonly privacy?: string;
  readonly refunds?: string;
  readonly contact?: string;
  /** Further ones, for the footer. */
  readonly more?: readonly { readonly path: string; readonly label: string }[];
  /** The texts of a page that this reader can open; undefined for a page that is not from Markdown. */
  textsAt?(path: string): PageTexts | undefined;
}

/** Those that this reader can open. Called for each page that is shown. */
export type ReadSiteLinks = (reader: Pick<PageRequest, 'host' | 'language' | 'isOperator'>) => SiteLinks;
