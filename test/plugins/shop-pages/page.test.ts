import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { RenderedMarkdown } from '#core/web/markdown/rendered-markdown.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { ownTexts } from '#core/web/serving/own-parts.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { shopLinks, shopPage } from '../../../plugins/shop-pages/page.ts';
import { draftPages } from '../../../plugins/shop-pages/problems.ts';
import en from '../../../plugins/shop-pages/texts/en.json' with { type: 'json' };
import id from '../../../plugins/shop-pages/texts/id.json' with { type: 'json' };

const translator = new Translator([ownTexts, defineTexts({ en, id })]);

const files = {
  'terms.en.md': '---\nversion: 3\n---\n# Terms\ntext',
  'terms.id.md': '# Ketentuan\nteks',
  'refunds.en.md': '# Refunds',
  'contact.en.md': '# Contact',
  'privacy.en.md': '---\ndraft: true\n---\n# Privacy',
  'about.id.md': '# Tentang {{nama}}',
};

function request(
  name: string,
  settings: Partial<PageRequest> & { baseUrl?: string; sections?: object } = {},
): PageRequest {
  const { language = 'en', baseUrl = 'https://ai.example.com', sections = {}, ...others } = settings;
  const host = createTestHost({ files: { pages: files }, sections: { ...sections } });
  const known = { host: { ...host, service: { ...host.service, baseUrl } }, t: translator.in(language), language };
  return { ...known, isOperator: false, params: { name }, ...others } as unknown as PageRequest;
}

interface Shown {
  readonly title: string;
  readonly version: string;
  readonly only: string;
  readonly prose: { readonly lang: string; readonly markdown: unknown };
  readonly facts?: readonly (readonly string[])[];
  readonly notice?: { readonly text: string };
}

const show = async (...input: Parameters<typeof request>) => (await shopPage.show(request(...input))) as Shown;
const failure = async (...input: Parameters<typeof request>) => show(...input).catch((error: unknown) => error);

it('a page is shown in the language of its reader', async () => {
  const [inEnglish, inIndonesian] = [await show('terms'), await show('terms', { language: 'id' })];
  expect([inEnglish.title, inEnglish.version, inIndonesian.title]).toEqual(['Terms', 'Version 3', 'Ketentuan']);
  expect(RenderedMarkdown.htmlOf(inIndonesian.prose.markdown)).toBe('<p>teks</p>\n');
});

it('a page without the language of its reader says so, and is marked with its own', async () => {
  expect(await show('refunds', { language: 'id' })).toMatchObject({
    title: 'Refunds',
    only: 'Halaman ini hanya ada dalam bahasa Inggris.',
    prose: { lang: 'en' },
  });
});

it('a draft is not there for others at a public URL', async () => {
  for (const name of ['privacy', 'about', 'nothing', 'constructor']) {
    const error = await failure(name);
    expect(error).toBeInstanceOf(PageError);
    expect((error as PageError).status).toBe(404);
  }
});

it('operators, and everyone on one’s own machine, see drafts with what is to be filled in', async () => {
  expect((await show('about', { isOperator: true })).notice?.text).toContain('{{nama}}');
  expect((await show('privacy', { baseUrl: 'http://localhost:8080' })).notice?.text).toContain('draft: true');
  expect((await show('terms', { isOperator: true })).notice).toBeUndefined();
});

it('/refund leads to /refunds', async () => {
  expect(await shopPage.show(request('refund'))).toEqual(new Redirect('/refunds'));
});

it('the page of contacts names the seller', async () => {
  const seller = { name: 'Toko <Rani>', address: 'Jl. Melati 1', registrations: ['NIB 123', 'PSE 456'] };
  expect((await show('contact', { sections: { seller } })).facts).toEqual([
    ['Seller', 'Toko <Rani>'],
    ['Address', 'Jl. Melati 1'],
    ['Registrations', 'NIB 123, PSE 456'],
  ]);
  expect((await show('contact')).facts).toBeUndefined();
});

it('pages link what their reader can open', () => {
  const links = { terms: '/terms', refunds: '/refunds', contact: '/contact', textsAt: expect.any(Function) };
  expect(shopLinks(request(''))).toEqual({ ...links, more: [] });
  expect(shopLinks(request('', { isOperator: true }))).toEqual({
    ...links,
    privacy: '/privacy',
    more: [{ path: '/about', label: 'Tentang {{nama}}' }],
  });
});

it('search engines get the pages that everyone can open', () => {
  expect(shopPage.paths?.(request('').host)).toEqual(['/terms', '/refunds', '/contact']);
});

const find = async (baseUrl: string) => draftPages.find(request('', { baseUrl }) as never);

it('drafts are a problem at a public URL, and a hint on one’s own machine', async () => {
  expect(await find('https://ai.example.com')).toMatchObject([{ severity: 'warn', step: { path: '/privacy' } }]);
  expect(await find('http://localhost')).toMatchObject([{ severity: 'info' }]);
});
