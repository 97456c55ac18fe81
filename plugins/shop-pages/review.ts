import { isOpenShop } from '#core/business/payments/section.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { ConfigReview, ReviewedHost } from '#core/extension/registry.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';
import type { PageText } from '#core/web/markdown/page-text.ts';
import { languages } from '#core/web/texts/texts.ts';
import { backupSection } from './other-sections.ts';
import { findPriceMistakes, findSellerMistakes } from './review-facts.ts';
import { listDrafts, getShopPages } from './shop-pages.ts';

export const pagesReview: ConfigReview = {
  name: 'pages',
  describe(host) {
    const pages = getShopPages(host);
    const missing = findMissingPages(host);
    if (pages.texts.size === 0) return missing.length === 0 ? undefined : { value: 'none', notice: missing };
    return {
      value: [...pages.texts.keys()].map((name) => `/${name}`).join(', '),
      notice: [
        ...missing,
        ...describeDrafts(host),
        ...findRefusedLinks(host),
        ...findPrivacyGaps(host),
        ...findSellerMistakes(host),
        ...findPriceMistakes(host),
      ],
    };
  },
};

/** If the terms are hosted elsewhere, the other pages may be too. */
function findMissingPages(host: ReviewedHost): string[] {
  if (!isOpenShop(host.section)) return [];
  const { terms, privacy } = host.section(service);
  const { texts } = getShopPages(host);
  const requiredPages = [
    ...(terms === undefined ? ['terms'] : []),
    ...(privacy === undefined ? ['privacy'] : []),
    ...(terms?.startsWith('/') === false ? [] : ['refunds', 'contact']),
  ];
  const missing = requiredPages.filter((name) => !texts.has(name)).map((name) => `/${name}`);
  if (missing.length === 0) return [];
  const reason = missing.includes('/terms') ? 'buyers accept no terms, and payment providers' : 'payment providers';
  return [
    `no page is at ${missing.join(', ')}: ${reason} look for them; \`daypass init --pages\` writes drafts to fill in`,
  ];
}

function describeDrafts(host: ReviewedHost): string[] {
  const drafts = listDrafts(getShopPages(host));
  if (drafts.length === 0) return [];
  return [
    `pages has drafts, which customers do not see at a public URL: ${drafts.join(', ')}; fill in each {{…}}, and remove "draft: true"`,
  ];
}

const refusedLink = /\]\((?!https:\/\/|mailto:|\/(?!\/)|#)[^)\s]+/;

function findRefusedLinks(host: ReviewedHost): string[] {
  return [...getShopPages(host).texts].flatMap(([name, page]) =>
    languages.flatMap((language) => {
      const [link] = refusedLink.exec(page[language]?.body ?? '') ?? [];
      if (link === undefined) return [];
      return [
        `pages: ${name}.${language}.md links ${link.slice(2)}; only https:, mailto: and paths such as /terms are links`,
      ];
    }),
  );
}

/** A privacy notice must mention this processing of personal data. */
function listProcessing(
  host: ReviewedHost,
): { readonly what: string; readonly isMentioned: (text: string) => boolean }[] {
  const { keep_days: days, content } = readLogOptions(host);
  return [
    ...listForeignHosts(host).map((name) => ({
      what: `the host ${name}`,
      isMentioned: (text: string) => mentionsHost(text, name),
    })),
    ...(days === undefined
      ? []
      : [
          {
            what: `records of requests for ${days} days (log.keep_days)`,
            isMentioned: (text: string) => mentionsDays(text, days),
          },
        ]),
    ...(content === true
      ? [{ what: 'recorded prompts and responses (log.content)', isMentioned: statesRecording }]
      : []),
    ...(host.section(backupSection).every === undefined
      ? []
      : [{ what: 'backups (backup)', isMentioned: (text: string) => /\bbackups?\b|\bcadangan\b/i.test(text) }]),
  ];
}

function findPrivacyGaps(host: ReviewedHost): string[] {
  const page = getShopPages(host).texts.get('privacy');
  if (page === undefined) return [];
  return languages.flatMap((language) => {
    const text = page[language];
    const missing =
      text === undefined ? [] : listProcessing(host).filter(({ isMentioned }) => !isMentioned(joinText(text)));
    if (missing.length === 0) return [];
    return [`pages: privacy.${language}.md does not name ${missing.map(({ what }) => what).join(', ')}`];
  });
}

const joinText = ({ title, body }: PageText) => `${title}\n${body}`;

function mentionsHost(text: string, host: string): boolean {
  const labels = host.split('.');
  const domains = labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
  return domains.some((domain) =>
    new RegExp(`(?<![\\w-])${domain.replaceAll('.', '\\.')}(?![\\w-]|\\.\\w)`, 'i').test(text),
  );
}

/** A table row counts only if it is about request records. */
function mentionsDays(text: string, days: number): boolean {
  const daysPattern = new RegExp(`(?<![\\d.,])${days}\\s+(?:days?|hari)\\b`, 'i');
  const requestWords = /record|\blogs?\b|request|usage|catatan|rekam|pemakaian/i;
  const relevantLines = text.split('\n').filter((line) => !line.trimStart().startsWith('|') || requestWords.test(line));
  return daysPattern.test(relevantLines.join('\n'));
}

function statesRecording(text: string): boolean {
  return text
    .split(/[.!?|]\s|\n\n/)
    .some(
      (sentence) =>
        /prompt|content of requests|isi request/i.test(sentence) &&
        /record|stor(?:e|age)|logged|kept|keep|catat|simpan|rekam/i.test(sentence) &&
        !/\b(?:not|never|no|tidak|tanpa)\b/i.test(sentence),
    );
}

export function listForeignHosts({ catalog }: Pick<ReviewedHost, 'catalog'>, includesOff = false): string[] {
  const hosts = catalog.upstreams
    .filter(({ isEnabled, isDemo }) => !isDemo && (isEnabled || includesOff))
    .map(({ baseUrl }) => URL.parse(baseUrl)?.hostname ?? '')
    .filter((name) => name.includes('.') && !isLoopback(name) && !/^[\d.]+$/.test(name));
  return [...new Set(hosts)].toSorted();
}

interface LogOptions {
  readonly keep_days?: number;
  readonly content?: boolean;
}

/** The `log` stage belongs to a different plugin. Empty if the pipeline does not have it. */
export function readLogOptions({ stages }: Pick<ReviewedHost, 'stages'>): LogOptions {
  return stages.find(({ definition }) => definition.name === 'log')?.options ?? {};
}
