import type { Request, ResponseObject, ResponseToolkit, Server } from '@hapi/hapi';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { bounds } from '#core/platform/bounds.ts';
import { PageError } from '../pages/page-error.ts';
import type { LiveParts, Page } from '../pages/page.ts';
import { livePath, pagePath } from '../pages/paths.ts';
import type { AssetTable } from '../serving/assets.ts';
import type { Renderer } from '../serving/renderer.ts';
import { getAuthOptions } from '../serving/routes.ts';
import { Visit } from '../serving/visit.ts';
import { sessionsOf } from '../sessions/sign-in.ts';
import type { Translator } from '../texts/translator.ts';
import { LiveHub } from './live-hub.ts';
import { LiveStream } from './live-stream.ts';
import type { LiveSource } from './live-view.ts';

interface LiveRouteParts {
  readonly host: () => Host;
  readonly renderer: Renderer;
  readonly assets: AssetTable;
  readonly translator: Translator;
}

const retryDelayMs = { min: 1_000, spread: 2_000 }; // random, so that not all pages of a stopped process reconnect at once

/**
 * Adds `GET <path>/live` for each page with live parts. It sends the parts as server-sent events, with the same access rules as the page.
 * The other events are `live-open` with the build of the assets, `live-state` (`live` or `stopped`), `live-redirect` with a path, and
 * `live-end` with the reason.
 */
export function routeLivePages(server: Server, pages: readonly Page[], parts: LiveRouteParts): void {
  const livePages = pages.filter(({ live }) => live !== undefined);
  if (livePages.length === 0) return;
  let openedHub: LiveHub | undefined;
  for (const page of livePages)
    server.route({
      method: 'GET',
      path: livePath(page.path),
      options: { auth: getAuthOptions(page) },
      handler: (request, h) => openStream(request, h, page, (openedHub = getLiveHub(parts.host)), parts),
    });
  // This runs before hapi waits for connections to end.
  server.ext('onPreStop', () => openedHub?.close());
}

export function getLiveHub(host: () => Host): LiveHub {
  return host().keep('live-hub', () => {
    const readOpenSessions = async (ids: readonly string[]) => {
      const open = await sessionsOf(host()).readOpen(ids);
      return new Map([...open].map(([id, { email }]) => [id, { isOperator: isOperatorAddress(host(), email) }]));
    };
    return new LiveHub(host(), readOpenSessions);
  });
}

function openStream(
  request: Request,
  h: ResponseToolkit,
  page: Page,
  hub: LiveHub,
  { host, renderer, assets, translator }: LiveRouteParts,
): ResponseObject {
  const { live } = page;
  const url = request.url.pathname + request.url.search;
  if (live === undefined || url.length > bounds.liveUrl) throw new PageError(414, 'error.400.text');
  // Creates a new visit for every rendering: a visit holds one configuration, which may be reloaded while the stream is open.
  const createVisit = () => new LiveVisit(request, h, host(), translator, pagePath(request.path));
  const lastEventId = request.raw.req.headers['last-event-id'];
  const stream = new LiveStream(Object.keys(live.parts), [lastEventId].flat().join());
  const response = h
    .response(stream.body)
    .type('text/event-stream')
    .header('cache-control', 'no-store, no-transform')
    .header('x-accel-buffering', 'no');
  if (request.method === 'head') return response;
  const { account, sessionId, address, language, format } = createVisit();
  stream.open(assets.build, retryDelayMs.min + Math.random() * retryDelayMs.spread);
  hub.add(stream, {
    page,
    live,
    viewKey: [page.path, url, sessionId, language, format.timeZone].join('\n'),
    accountId: account?.id,
    sessionId,
    address,
    source: createSource(createVisit, page, live, renderer),
  });
  const { res } = request.raw;
  if (res.destroyed) stream.close();
  else res.once('close', () => stream.close());
  return response;
}

function createSource(createVisit: () => LiveVisit, page: Page, live: LiveParts, renderer: Renderer): LiveSource {
  let visit: LiveVisit | undefined;
  return {
    async values() {
      visit = createVisit();
      return live.values === undefined ? page.show(visit) : live.values(visit);
    },
    render: (templates, values) => renderer.renderParts((visit ??= createVisit()), templates, values),
  };
}

class LiveVisit extends Visit {
  /** @throws Error for a visitor: visitors share a rendering, but a token belongs to one browser */
  override formToken(path: string): string {
    if (this.account === undefined)
      throw new Error(`a live part of "${this.path}" has a form that visitors would share`);
    return super.formToken(path);
  }
}
