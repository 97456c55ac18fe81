import type { Service } from '#core/gateway/host/host.ts';
import type { PageRequest } from '../pages/page.ts';
import type { PageTexts } from './markdown-page.ts';

/** Links to the shop's own texts, for the footer, the sign-in page and the checkout. */
export interface SiteLinks {
  readonly terms?: string | undefined;
  readonly privacy?: string | undefined;
  readonly refunds?: string;
  readonly contact?: string;
  /** Additional links in the footer. */
  readonly more?: readonly { readonly path: string; readonly label: string }[];
  /** Returns the texts of the Markdown page at this path, if this reader can open it; undefined otherwise. */
  textsAt?(path: string): PageTexts | undefined;
}

type Reader = Pick<PageRequest, 'host' | 'language' | 'isOperator'>;

/** Returns the links that this reader can open. Called for every page that is shown. */
export type ReadSiteLinks = (reader: Reader) => SiteLinks;

/**
 * Selects the links for a page. URLs from gateway.yaml take precedence; a URL of a text that this reader cannot open is omitted. `read`
 * belongs to the plugin that provides the texts, if there is one.
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

function isDraftAt(path: string, { host, language }: Reader, read: ReadSiteLinks | undefined): boolean {
  return path !== '' && read?.({ host, language, isOperator: true }).textsAt?.(path) !== undefined;
}

/** Returns the path if a URL leads to this gateway; '' if it leads elsewhere. */
export function toOwnPath(address: string, { baseUrl }: Pick<Service, 'baseUrl'>): string {
  const path = address.startsWith(`${baseUrl}/`) ? address.slice(baseUrl.length) : address;
  return path.startsWith('/') ? (path.split(/[?#]/)[0] ?? '') : '';
}
