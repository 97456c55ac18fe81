import { createHash } from 'node:crypto';
import { chooseTextLanguage, type PageTexts } from '#core/web/markdown/markdown-page.ts';
import type { PageText } from '#core/web/markdown/page-text.ts';
import { toOwnPath, type ReadSiteLinks, selectSiteLinks } from '#core/web/markdown/site-links.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';

export const acceptedPages = ['terms', 'refunds'] as const;
export type AcceptedPage = (typeof acceptedPages)[number];

export type StoredTexts = Readonly<Partial<Record<Language, Pick<PageText, 'title' | 'version' | 'body' | 'digest'>>>>;

/** A document currently in force, in the reader's language. */
export interface Document {
  readonly page: AcceptedPage;
  readonly digest: string;
  readonly language: Language;
  /** Path of the page, or the full URL of an external document. */
  readonly href: string;
  /** Full URL of an external document, whose content we do not store; undefined for our own. */
  readonly address: string | undefined;
  readonly texts: StoredTexts | undefined;
}

type Reader = Pick<PageRequest, 'host' | 'language' | 'isOperator'>;

/** Lists the documents in force that this reader can open. `readLinks` is undefined if no loaded plugin serves the pages. */
export function listDocuments(reader: Reader, readLinks: ReadSiteLinks | undefined): Document[] {
  const links = selectSiteLinks(reader, readLinks);
  return acceptedPages.flatMap((page) => {
    const path = links[page];
    if (path === undefined || path === '') return [];
    const texts = links.textsAt?.(toOwnPath(path, reader.host.service));
    return [
      texts === undefined
        ? createExternalDocument(page, path, reader)
        : createOwnDocument(page, { path, texts }, reader),
    ];
  });
}

function createExternalDocument(page: AcceptedPage, link: string, { host, language }: Reader): Document {
  const address = link.startsWith('/') ? host.service.baseUrl + link : link;
  return { page, digest: computeDigest([page, address]), language, href: address, address, texts: undefined };
}

function createOwnDocument(
  page: AcceptedPage,
  { path, texts }: { readonly path: string; readonly texts: PageTexts },
  { language }: Reader,
): Document {
  const digest = computeDigest([page, ...languages.map((textLanguage) => texts[textLanguage]?.digest ?? '')]);
  return {
    page,
    digest,
    language: chooseTextLanguage(texts, language),
    href: path,
    address: undefined,
    texts: toStoredTexts(texts),
  };
}

function toStoredTexts(texts: PageTexts): StoredTexts {
  const entries = languages.flatMap((language) => {
    const text = texts[language];
    if (text === undefined) return [];
    const { title, version, body, digest } = text;
    return [[language, { title, version, body, digest }] as const];
  });
  return Object.fromEntries(entries);
}

function computeDigest(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}

export function getVersion({ texts, language }: Pick<Document, 'texts' | 'language'>): string | undefined {
  return texts?.[language]?.version;
}

export const digestPattern = /^[\w-]{43}$/;

const buildVersionPath = (digest: string) => `/accepted/${digest}`;

/**
 * Returns the path of this version, which later edits of the page do not change. For an external document, which we do not copy, returns
 * its URL.
 */
export function createPermanentLink({ digest, address }: Pick<Document, 'digest' | 'address'>): string {
  return address ?? buildVersionPath(digest);
}
