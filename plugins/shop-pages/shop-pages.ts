import type { Host } from '#core/gateway/host/host.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';
import { chooseTextLanguage, type PageTexts } from '#core/web/markdown/markdown-page.ts';
import type { PageText } from '#core/web/markdown/page-text.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';
import { parseShopPages, type ShopPages } from './parse-pages.ts';
import { pagesSection } from './section.ts';

export function getShopPages({ files }: Pick<Host, 'files'>): ShopPages {
  return parseShopPages(files(pagesSection));
}

export function isDraft({ isDraft: isMarked, unfilled }: PageText): boolean {
  return isMarked || unfilled.length > 0;
}

export function listDrafts({ texts }: ShopPages): string[] {
  return [...texts].flatMap(([name, page]) =>
    languages
      .filter((language) => page[language] !== undefined && isDraft(page[language]))
      .map((shownLanguage) => `${name}.${shownLanguage}.md`),
  );
}

export function isPublic({ service, isProduction }: Pick<Host, 'service' | 'isProduction'>): boolean {
  return isProduction || !isLoopback(URL.parse(service.baseUrl)?.hostname.replace(/^\[|\]$/g, '') ?? '');
}

/** Drafts are visible to operators; on a local machine, to everyone. */
export function selectVisibleTexts(
  page: PageTexts | undefined,
  { host, isOperator }: { readonly host: Pick<Host, 'service' | 'isProduction'>; readonly isOperator: boolean },
): PageTexts | undefined {
  if (page === undefined) return undefined;
  const seesDrafts = isOperator || !isPublic(host);
  const shownLanguages = languages.filter(
    (language) => page[language] !== undefined && (seesDrafts || !isDraft(page[language])),
  );
  return shownLanguages.length === 0
    ? undefined
    : Object.fromEntries(shownLanguages.map((shownLanguage) => [shownLanguage, page[shownLanguage]]));
}

export function getPageTitle(texts: PageTexts, language: Language): string {
  return texts[chooseTextLanguage(texts, language)]?.title ?? '';
}
