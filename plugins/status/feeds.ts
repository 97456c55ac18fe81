import type { Lifecycle, Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { LRUCache } from 'lru-cache';
import type { Registry } from '#core/extension/registry.ts';
import { memoizePerCatalog, type Host } from '#core/gateway/host/host.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { noticesToJson } from '#core/web/pages/notices.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { renderAtom } from './atom.ts';
import { describeStatusJson } from './json.ts';
import { findPage, readServiceStatus } from './service-status.ts';
import { statusTexts } from './texts.ts';

const maxAgeSeconds = 10;

type StatusRegistry = Pick<Registry, 'statusReports' | 'creditReader' | 'checkupReader' | 'noticeSources'>;

const translator = new Translator([statusTexts]);

const jsonMaxAgeMs = 1_000;
const jsonTimeoutMs = 10_000;
const maxTexts = 20; // one per language and page, each at most half a megabyte

const jsonTexts = memoizePerCatalog(() => new LRUCache<string, FreshValue<string>>({ max: maxTexts }));

/** `?language=id` selects Indonesian, `?page=2` the next models. Concurrent requests for `/status.json` share one text. */
export function createFeedRoutes(gateway: StatusRegistry, host: () => Host): ServerRoute[] {
  return [
    createRoute('/status.json', async (request, h) => {
      const language = getLanguage(request);
      const page = findPage(request.query['page'], host().catalog.models.length).number;
      return respond(h, await getCachedJson(gateway, host(), language, page).get(), 'application/json');
    }),
    createRoute('/status.atom', async (request, h) => {
      const { incidents, at } = await readServiceStatus(gateway, host());
      const { name, baseUrl } = host().service;
      const language = getLanguage(request);
      const t = translator.in(language);
      return respond(h, renderAtom({ service: name, baseUrl, language, t, incidents, at }), 'application/atom+xml');
    }),
  ];
}

function getCachedJson(gateway: StatusRegistry, host: Host, language: Language, page: number) {
  const texts = jsonTexts(host);
  const key = `${language} ${page}`;
  const cachedText = texts.get(key);
  if (cachedText !== undefined) return cachedText;
  const text = new FreshValue({
    maxAgeMs: jsonMaxAgeMs,
    timeoutMs: jsonTimeoutMs,
    now: () => performance.now(),
    async read() {
      const [status, notices] = await Promise.all([
        readServiceStatus(gateway, host, String(page)),
        noticesToJson(gateway.noticeSources, host, language),
      ]);
      return JSON.stringify(describeStatusJson(status, host.service.name, translator.in(language), language, notices));
    },
  });
  texts.set(key, text);
  return text;
}

function createRoute(path: string, handler: Lifecycle.Method): ServerRoute {
  return { method: 'GET', path, options: { auth: false, state: { parse: false } }, handler };
}

function respond(h: ResponseToolkit, body: string, type: string) {
  return h
    .response(body)
    .type(type)
    .header('cache-control', `public, max-age=${maxAgeSeconds}`)
    .header('access-control-allow-origin', '*');
}

function getLanguage({ query }: Request): Language {
  const requested: unknown = query['language'];
  return languages.find((language) => language === requested) ?? languages[0];
}
