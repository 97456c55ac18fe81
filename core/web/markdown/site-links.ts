import type { Service } from '#core/gateway/host/host.ts';
import type { PageRequest } from '../pages/page.ts';
import type { PageTexts } from './markdown-page.ts';

/** Paths of the shop's texts for links in the footer, the sign-in and the checkout. */
export interface SiteLinks {
  readonly terms?: string | undefined;
  readonly privacy?: string | undefined;
  readonly refunds?: string;
  readonly contact?: string;
  /** Additional links in the footer. */
  readonly more?: readonly { readonly path: string; readonly label: string }[];
  /** Returns the texts of a page if this reader can open it; undefined for a page that is not from Markdown. */
  textsAt?(path: string): PageTexts | undefined;
}

type Reader = Pick<PageRequest, 'host' | 'language' | 'isOperator'>;

/** Reads the links that this reader can open. Called for each page shown. */
export type ReadSiteLinks = (reader: Reader) => SiteLinks;

/**
 * Returns the links of pages. URLs from gateway.yaml take precedence, and are omitted if this reader cannot open their text.
 *
 * @param read reader of the plugin that has the texts; undefined without that plugin
 */
export function selectSiteLinks(reader: Reader, read: ReadSiteLinks | undefined): SiteLinks {
  const links = read?.(reader) ?? {};
  const { service } = reader.host;
  const selectUrl = (name: 'terms' | 'privacy') => {
    const configuredUrl = service[name];
    if (configuredUrl === undefined) return links[name];
    const path = toOwnPath(configuredUrl, service);
    return links.textsAt?.(path) === undefined && isDraftAt(path, reader, read) ? undefined : configuredUrl;
  };
  return { ...links, terms: selectUrl('terms'), privacy: selectUrl('privacy') };
}

/** Returns true if operators can open a text at this path. */
function isDraftAt(path: string, { host, language }: Reader, read: ReadSiteLinks | undefined): boolean {
  return path !== '' && read?.({ host, language, isOperator: true }).textsAt?.(path) !== undefined;
}

/** Returns the path on this gateway that a URL leads to; '' for another site. */
export function toOwnPath(address: string, { baseUrl }: Pick<Service, 'baseUrl'>): string {
  const path = address.startsWith(`${baseUrl}/`) ? address.slice(baseUrl.length) : address;
  return path.startsWith('/') ? (path.split(/[?#]/)[0] ?? '') : '';
}
