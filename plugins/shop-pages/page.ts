import { describeMarkdown, languageOf, markdownLook } from '#core/web/markdown/markdown-page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import type { ReadSiteLinks } from '#core/web/markdown/site-links.ts';
import { describeSeller } from './seller.ts';
import { isDraft, shopPages, titleOf, visibleTexts } from './shop-pages.ts';

const linked = ['terms', 'privacy', 'refunds', 'contact'] as const;

/** Aliases that people and payment providers try. */
const otherNames: ReadonlyMap<string, string> = new Map([['refund', 'refunds']]);

/** Serves each page of the folder under its name. */
export const shopPage: Page = {
  path: '/{name}',
  has: (host, name) => shopPages(host).texts.has(otherNames.get(name) ?? name),
  role: 'public',
  ...markdownLook,
  paths: (host) =>
    [...shopPages(host).texts]
      .filter(([, page]) => visibleTexts(page, { host, isOperator: false }) !== undefined)
      .map(([name]) => `/${name}`),
  async show(request) {
    const { host, language, t } = request;
    const { name = '' } = request.params;
    const { texts } = shopPages(host);
    const page = visibleTexts(texts.get(name), request);
    if (page === undefined) return redirectOther(name, request);
    const text = page[languageOf(page, language)];
    return {
      ...(await describeMarkdown(page, request)),
      version: text?.version === undefined ? '' : t('shop_pages.version', { version: text.version }),
      facts: name === 'contact' ? describeSeller(request) : undefined,
      notice: text !== undefined && isDraft(text) ? draftNotice(text.unfilled, request) : undefined,
    };
  },
};

function redirectOther(name: string, request: PageRequest): Redirect {
  const other = otherNames.get(name);
  if (other !== undefined && visibleTexts(shopPages(request.host).texts.get(other), request) !== undefined)
    return new Redirect(`/${other}`);
  throw new PageError(404, 'error.404.text');
}

function draftNotice(unfilled: readonly string[], { t }: PageRequest) {
  const text =
    unfilled.length === 0
      ? t('shop_pages.draft_more')
      : t('shop_pages.draft_unfilled', { places: unfilled.join(', ') });
  return { kind: 'warn', title: t('shop_pages.draft'), text };
}

const isLinked = (name: string) => linked.some((one) => one === name);

/** Links for the footer, the sign-in and the checkout: only pages that the reader can open. */
export const shopLinks: ReadSiteLinks = (reader) => {
  const all = shopPages(reader.host).texts;
  const pages = [...all].flatMap(([name, page]) => {
    const texts = visibleTexts(page, reader);
    return texts === undefined ? [] : [{ name, path: `/${name}`, label: titleOf(texts, reader.language) }];
  });
  const more = pages.filter(({ name }) => !isLinked(name)).map(({ path, label }) => ({ path, label }));
  return {
    ...Object.fromEntries(pages.filter(({ name }) => isLinked(name)).map(({ name, path }) => [name, path])),
    more,
    textsAt: (path) => visibleTexts(all.get(path.slice(1)), reader),
  };
};
