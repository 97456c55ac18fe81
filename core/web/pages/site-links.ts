import type { PageRequest } from './page.ts';

/** Paths of texts of the shop that the footer, the sign-in and the checkout link. Those of gateway.yaml come first. */
interface SiteLinks {
  readonly terms?: string;
  readonly privacy?: string;
  readonly refunds?: string;
  readonly contact?: string;
  /** Further ones, for the footer. */
  readonly more?: readonly { readonly path: string; readonly label: string }[];
}

/** Those that this reader can open. Called for each page that is shown. */
export type ReadSiteLinks = (reader: Pick<PageRequest, 'host' | 'language' | 'isOperator'>) => SiteLinks;
