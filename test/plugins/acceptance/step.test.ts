import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/index.ts';
import { parsePageText } from '#core/web/markdown/page-text.ts';
import type { SiteLinks } from '#core/web/markdown/site-links.ts';
import { type Document, listDocuments, createPermanentLink, getVersion } from '../../../plugins/acceptance/document.ts';
import { parseShownTexts, encodeShownTexts } from '../../../plugins/acceptance/store.ts';

const terms = (en: string, id = '# Ketentuan\nSatu.') => ({
  en: parsePageText(en, 'terms'),
  id: parsePageText(id, 'terms'),
});
const first = terms('---\nversion: "1"\n---\n# Terms\nOne.');

function read(links: SiteLinks, service: { terms?: string } = {}, language: 'en' | 'id' = 'en'): Document[] {
  const host = createTestHost();
  const reader = { host: { ...host, service: { ...host.service, ...service } }, language, isOperator: false };
  return listDocuments(reader, () => links);
}

const withTexts = (texts = first): SiteLinks => ({
  terms: '/terms',
  textsAt: (path) => (path === '/terms' ? texts : undefined),
});

describe('the texts that are accepted', () => {
  it('are none where the shop has none', () => {
    expect(read({})).toEqual([]);
  });

  it('have one digest for both languages, which any edit of one changes', () => {
    const [en] = read(withTexts());
    const [id] = read(withTexts(), {}, 'id');
    const [edited] = read(withTexts(terms('---\nversion: "1"\n---\n# Terms\nOne.', '# Ketentuan\nDua.')));
    expect([en?.language, id?.language]).toEqual(['en', 'id']);
    expect(en?.digest).toBe(id?.digest);
    expect(edited?.digest).not.toBe(en?.digest);
    expect(getVersion(en as Document)).toBe('1');
    expect(createPermanentLink(en as Document)).toBe(`/accepted/${en?.digest}`);
  });

  it('are an address where service.terms leads elsewhere, or to a page that is not from Markdown', () => {
    const [elsewhere] = read(withTexts(), { terms: 'https://example.com/terms' });
    expect(elsewhere).toMatchObject({ address: 'https://example.com/terms', texts: undefined });
    expect(createPermanentLink(elsewhere as Document)).toBe('https://example.com/terms');
    expect(read({}, { terms: '/legal' })[0]?.address).toBe('http://localhost:8080/legal');
    expect(read(withTexts(), { terms: '/terms' })[0]?.address).toBeUndefined();
  });

  it.each(['/terms?from=pay', '/terms#fees', 'http://localhost:8080/terms'])(
    'are those of a page of the shop at %s',
    (address) => {
      expect(read(withTexts(), { terms: address })).toMatchObject([{ address: undefined, href: address }]);
    },
  );

  it('are none where service.terms leads to a draft, which a buyer cannot open', () => {
    const host = createTestHost();
    const service = { ...host.service, terms: '/terms' };
    const readAs = (isOperator: boolean) =>
      listDocuments({ host: { ...host, service }, language: 'en', isOperator }, (reader) =>
        reader.isOperator ? withTexts() : { textsAt: () => undefined },
      );
    expect([readAs(false), readAs(true).length]).toEqual([[], 1]);
  });

  it('are named by the form, and a malformed name is left out', () => {
    const documents = read({ ...withTexts(), refunds: '/refunds' });
    expect(parseShownTexts(encodeShownTexts(documents))).toEqual(
      documents.map(({ digest, language }) => ({ digest, language })),
    );
    expect(parseShownTexts(`x.en ${'a'.repeat(43)} ${'b'.repeat(43)}.zz ${'c'.repeat(43)}.id`)).toEqual([
      { digest: 'c'.repeat(43), language: 'id' },
    ]);
  });
});
