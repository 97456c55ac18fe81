import type { Service } from '#core/gateway/host/host.ts';
import type { PageTexts } from './markdown-page.ts';
import type { PageRequest } from '../pages/page.ts';

/** Paths of texts of the shop that the footer, the sign-in and the checkout link. */
export interface SiteLinks {
  readonly terms?: string | undefined;
  readonly privacy?: string | undefined;
  readonly refunds?: string;
  readonly contact?: string;
  /** Further ones, for the footer. */
  readonly more?: readonly { readonly path: string; readonly label: string }[];
  /** The texts of a page that this reader can open; undefined for a page that is not from Markdown. */
  textsAt?(path: string): PageTexts | undefined;
}

type Reader = Pick<PageRequest, 'host' | 'language' | 'isOperator'>;

/** Those that this reader can open. Called for each page that is shown. */
export type ReadSiteLinks = (reader: Reader) => SiteLinks;

/**
 * Returns the links of pages. Addresses from gateway.yaml come first, except those of a text that this reader cannot open.
 *
 * @param read of the plugin that has the texts; undefined without one
 */
export function siteLinksFor(reader: Reader, read: ReadSiteLinks | undefined): SiteLinks {
  const links = read?.(reader) ?? {};
  const { service } = reader.host;
  const choose = (name: 'terms' | 'privacy') => {
    const given = service[name];
    if (given === undefined) return links[name];
    const path = ownPathOf(given, service);
    return links.textsAt?.(path) === undefined && isDraftAt(path, reader, read) ? undefined : given;
  };
  return { ...links, terms: choose('terms'), privacy: choose('privacy') };
}

/** True for a text that operators can open. */
function isDraftAt(path: string, { host, language }: Reader, read: ReadSiteLinks | undefined): boolean {
  return path !== '' && read?.({ host, language, isOperator: true }).textsAt?.(path) !== undefined;
}

/** Returns the page of this gateway that an address leads to; '' for another site. */
export function ownPathOf(address: string, { baseUrl }: Pick<Service, 'baseUrl'>): string {
  const path = address.startsWith(`${baseUrl}/`) ? address.slice(baseUrl.length) : address;
  return path.startsWith('/') ? (path.split(/[?#]/)[0] ?? '') : '';
}
