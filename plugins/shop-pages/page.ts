import { describeMarkdown, chooseTextLanguage, markdownPageDefaults } from '#core/web/markdown/markdown-page.ts';
import type { ReadSiteLinks } from '#core/web/markdown/site-links.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { describeSeller } from './seller.ts';
import { isDraft, getShopPages, getPageTitle, selectVisibleTexts } from './shop-pages.ts';

const linkedNames = ['terms', 'privacy', 'refunds', 'contact'] as const;

const aliases: ReadonlyMap<string, string> = new Map([['refund', 'refunds']]); // names that people and payment providers try

export const shopPage: Page = {
  path: '/{name}',
  has: (host, name) => getShopPages(host).texts.has(aliases.get(name) ?? name),
  role: 'public',
  ...markdownPageDefaults,
  paths: (host) =>
    [...getShopPages(host).texts]
      .filter(([, page]) => selectVisibleTexts(page, { host, isOperator: false }) !== undefined)
      .map(([name]) => `/${name}`),
  async show(request) {
    const { host, language, t } = request;
    const { name = '' } = request.params;
    const { texts } = getShopPages(host);
    const page = selectVisibleTexts(texts.get(name), request);
    if (page === undefined) return redirectAlias(name, request);
    const text = page[chooseTextLanguage(page, language)];
    return {
      ...(await describeMarkdown(page, request)),
      version: text?.version === undefined ? '' : t('shop_pages.version', { version: text.version }),
      facts: name === 'contact' ? describeSeller(request) : undefined,
      notice: text !== undefined && isDraft(text) ? describeDraftNotice(text.unfilled, request) : undefined,
    };
  },
};

function redirectAlias(name: string, request: PageRequest): Redirect {
  const target = aliases.get(name);
  if (target !== undefined && selectVisibleTexts(getShopPages(request.host).texts.get(target), request) !== undefined)
    return new Redirect(`/${target}`);
  throw new PageError(404, 'error.404.text');
}

function describeDraftNotice(unfilled: readonly string[], { t }: PageRequest) {
  const text =
    unfilled.length === 0
      ? t('shop_pages.draft_more')
      : t('shop_pages.draft_unfilled', { places: unfilled.join(', ') });
  return { kind: 'warn', title: t('shop_pages.draft'), text };
}

const isLinked = (name: string) => linkedNames.some((linkedName) => linkedName === name);

export const shopLinks: ReadSiteLinks = (reader) => {
  const allTexts = getShopPages(reader.host).texts;
  const pages = [...allTexts].flatMap(([name, page]) => {
    const texts = selectVisibleTexts(page, reader);
    return texts === undefined ? [] : [{ name, path: `/${name}`, label: getPageTitle(texts, reader.language) }];
  });
  const otherPages = pages.filter(({ name }) => !isLinked(name)).map(({ path, label }) => ({ path, label }));
  return {
    ...Object.fromEntries(pages.filter(({ name }) => isLinked(name)).map(({ name, path }) => [name, path])),
    more: otherPages,
    textsAt: (path) => selectVisibleTexts(allTexts.get(path.slice(1)), reader),
  };
};
