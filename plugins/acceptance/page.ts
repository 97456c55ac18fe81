import { describeMarkdown, languageOf, markdownLook, type PageTexts } from '#core/web/markdown/markdown-page.ts';
import { parsePageText } from '#core/web/markdown/page-text.ts';
import type { Registry } from '#core/extension/registry.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { documentsFor, type StoredTexts, versionOf } from './document.ts';
import { readDocument, type StoredDocument } from './store.ts';

const { description: _, ...look } = markdownLook; // without a description, search engines skip the page

/** Maximum number of cached texts. Each cached text is rendered only once. */
const maxKept = 20;

/** `/accepted/{digest}`: a permanent copy of a shown version of the terms or the refund policy. */
export const createVersionPage = (gateway: Pick<Registry, 'siteLinksReader'>): Page => ({
  path: '/accepted/{digest}',
  role: 'public',
  ...look,
  async show(request) {
    const digest = request.params['digest'] ?? '';
    const stored = await readDocument(request.host.database, digest);
    const texts = stored?.texts === undefined ? undefined : keptTexts(request.host, digest, stored.texts);
    if (stored === undefined || texts === undefined) throw new PageError(404, 'acceptance.unknown');
    const version = texts[languageOf(texts, request.language)]?.version;
    return {
      ...(await describeMarkdown(texts, request)),
      version: version === undefined ? '' : request.t('acceptance.version', { version }),
      notice: describeState(digest, stored, gateway, request),
    };
  },
});

/** Describes whether buyers accept this version now. */
function describeState(
  digest: string,
  { page, texts, createdAt }: StoredDocument,
  gateway: Pick<Registry, 'siteLinksReader'>,
  request: PageRequest,
) {
  const { t, format } = request;
  const now = documentsFor(request, gateway.siteLinksReader).find((one) => one.page === page);
  const isInForce = now !== undefined && (now.digest === digest || isSameVersion(now, texts));
  const day = format.day(createdAt).text;
  if (isInForce) return { kind: 'info', title: t('acceptance.in_force', { day }) };
  return {
    kind: 'warn',
    title: t('acceptance.earlier', { day }),
    text: t('acceptance.earlier_more'),
    ...(now !== undefined && { action: { path: now.path, label: t('acceptance.open_current') } }),
  };
}

function isSameVersion(now: Parameters<typeof versionOf>[0], texts: StoredTexts | undefined): boolean {
  const { language } = now;
  const version = versionOf(now);
  return version !== undefined && version === versionOf({ texts, language });
}

/** Returns the same object for every request, because it is the key of the rendered page's cache. */
function keptTexts({ keep }: PageRequest['host'], digest: string, stored: StoredTexts): PageTexts {
  const kept = keep('acceptance-pages', () => new Map<string, PageTexts>());
  const known = kept.get(digest);
  if (known !== undefined) return known;
  const texts = Object.fromEntries(
    Object.entries(stored).map(([language, text]) => [language, { ...parsePageText('', ''), ...text }]),
  );
  if (kept.size >= maxKept) kept.clear();
  kept.set(digest, texts);
  return texts;
}
