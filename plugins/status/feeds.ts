import type { Lifecycle, Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/host.ts';
import { languages } from '#core/pages/texts.ts';
import { Translator } from '#core/pages/translator.ts';
import { toAtom } from './atom.ts';
import { toJson } from './json.ts';
import { readServiceStatus } from './service-status.ts';
import { statusTexts } from './texts.ts';

/** Seconds for which caches may keep a feed. */
const maxAge = 10;

const translator = new Translator([statusTexts]);

/** `/status.json` and `/status.atom`, the same for all clients; `?language=id` for Indonesian. */
export function feedRoutes(gateway: Pick<Registry, 'statusReports'>, host: () => Host): ServerRoute[] {
  return [
    route('/status.json', async (request, h) => {
      const status = await readServiceStatus(gateway, host());
      return send(h, toJson(status, host().service.name, translator.in(languageOf(request))), 'application/json');
    }),
    route('/status.atom', async (request, h) => {
      const { incidents, at } = await readServiceStatus(gateway, host());
      const { name, baseUrl } = host().service;
      const language = languageOf(request);
      const t = translator.in(language);
      return send(h, toAtom({ service: name, baseUrl, language, t, incidents, at }), 'application/atom+xml');
    }),
  ];
}

function route(path: string, handler: Lifecycle.Method): ServerRoute {
  return { method: 'GET', path, options: { auth: false, state: { parse: false } }, handler };
}

function send(h: ResponseToolkit, body: string | object, type: string) {
  return h
    .response(body)
    .type(type)
    .header('cache-control', `public, max-age=${maxAge}`)
    .header('access-control-allow-origin', '*');
}

function languageOf({ query }: Request) {
  const wanted: unknown = query['language'];
  return languages.find((language) => language === wanted) ?? languages[0];
}
