import type { Registry } from '#core/extension/registry.ts';
import {
  describeMarkdown,
  chooseTextLanguage,
  markdownPageDefaults,
  type PageTexts,
} from '#core/web/markdown/markdown-page.ts';
import { parsePageText } from '#core/web/markdown/page-text.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { listDocuments, type StoredTexts, getVersion } from './document.ts';
import { readDocument, type StoredDocument } from './store.ts';

const { description: _, ...pageLayout } = markdownPageDefaults; // search engines skip a page without a description

const maxCachedTexts = 20;

/** `/accepted/{digest}`: a permanent copy of a version of the terms or the refund policy that was shown to buyers. */
export const createVersionPage = (gateway: Pick<Registry, 'siteLinksReader'>): Page => ({
  path: '/accepted/{digest}',
  role: 'public',
  ...pageLayout,
  async show(request) {
    const digest = request.params['digest'] ?? '';
    const stored = await readDocument(request.host.database, digest);
    const texts = stored?.texts === undefined ? undefined : getCachedTexts(request.host, digest, stored.texts);
    if (stored === undefined || texts === undefined) throw new PageError(404, 'acceptance.unknown');
    const version = texts[chooseTextLanguage(texts, request.language)]?.version;
    return {
      ...(await describeMarkdown(texts, request)),
      version: version === undefined ? '' : request.t('acceptance.version', { version }),
      notice: createForceNotice(digest, stored, gateway, request),
    };
  },
});

function createForceNotice(
  digest: string,
  { page, texts, createdAt }: StoredDocument,
  gateway: Pick<Registry, 'siteLinksReader'>,
  request: PageRequest,
) {
  const { t, format } = request;
  const currentDocument = listDocuments(request, gateway.siteLinksReader).find((document) => document.page === page);
  const isInForce =
    currentDocument !== undefined && (currentDocument.digest === digest || isSameVersion(currentDocument, texts));
  const day = format.day(createdAt).text;
  if (isInForce) return { kind: 'info', title: t('acceptance.in_force', { day }) };
  return {
    kind: 'warn',
    title: t('acceptance.earlier', { day }),
    text: t('acceptance.earlier_more'),
    ...(currentDocument !== undefined && {
      action: { path: currentDocument.href, label: t('acceptance.open_current') },
    }),
  };
}

function isSameVersion(currentDocument: Parameters<typeof getVersion>[0], texts: StoredTexts | undefined): boolean {
  const { language } = currentDocument;
  const version = getVersion(currentDocument);
  return version !== undefined && version === getVersion({ texts, language });
}

/** Returns the same object for every request, because the cache of rendered pages uses it as its key. */
function getCachedTexts({ keep }: PageRequest['host'], digest: string, stored: StoredTexts): PageTexts {
  const textCache = keep('acceptance-pages', () => new Map<string, PageTexts>());
  const cachedTexts = textCache.get(digest);
  if (cachedTexts !== undefined) return cachedTexts;
  const texts = Object.fromEntries(
    Object.entries(stored).map(([language, text]) => [language, { ...parsePageText('', ''), ...text }]),
  );
  if (textCache.size >= maxCachedTexts) textCache.clear();
  textCache.set(digest, texts);
  return texts;
}
