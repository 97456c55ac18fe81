import type { IncomingMessage, RequestListener, Server as HttpServer, ServerResponse } from 'node:http';
import { type Request, type ResponseToolkit, type Server, server as createHapi } from '@hapi/hapi';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { LineThrottle } from '#core/platform/timing/throttle.ts';
import { renderError } from '../pipeline/render-error.ts';
import { createRequestId } from '../records/request-id.ts';
import { detectDialect } from './dialect.ts';
import { type ExchangeHandler, isDisconnected } from './exchange-handler.ts';
import { createListener, sendContinue, replaceHapiListeners } from './listener.ts';
import { ParserRefusals } from './parser-refusals.ts';
import { toCanonicalPath, type EndpointTable, stripQuery, vendorSegments, versionSegments } from './paths.ts';
import { rewritePage } from './rewritten-pages.ts';
import { Upgrades } from './upgrades.ts';

const reminderIntervalMs = 60_000; // per kind of page failure
const extensionTimeoutMs = 5_000;

/** Creates hapi on our own listener; the app decides when it listens. */
export function createServer(log: Logger): {
  server: Server;
  listener: HttpServer;
  refusals: ParserRefusals;
  upgrades: Upgrades;
} {
  const upgrades = new Upgrades(log);
  const listener = createListener(upgrades.accepts);
  upgrades.attach(listener);
  const refusals = new ParserRefusals(log);
  const server = createHapi({
    listener,
    autoListen: false,
    debug: false,
    // Tampered cookies are ignored, so that pages do not fail with 400.
    routes: { state: { parse: true, failAction: 'ignore' }, timeout: { server: 60_000 } },
    router: { stripTrailingSlash: true },
    // Compression would delay events until enough are buffered.
    mime: { override: { 'text/event-stream': { source: 'iana', compressible: false } } },
  });
  addShortcut(listener);
  replaceHapiListeners(listener, refusals);
  const throttle = new LineThrottle(reminderIntervalMs);
  server.events.on(
    { name: 'request', channels: ['error', 'internal'] },
    ({ path, route, info }, { error, channel }) => {
      if (error === undefined || channel !== 'error') return;
      const suffix = throttle.admit(route.path, error);
      if (suffix !== undefined) log.error(`${path} failed, request ${info.id}${suffix}`, error);
    },
  );
  return { server, listener, refusals, upgrades };
}

type Shortcut = (request: IncomingMessage, response: ServerResponse) => boolean; // false for a request that needs hapi

const shortcuts = new WeakMap<HttpServer, Shortcut>();

function addShortcut(listener: HttpServer): void {
  const hapiListeners = listener.listeners('request') as RequestListener[];
  listener.removeAllListeners('request');
  listener.on('request', (request, response) => {
    // hapi's work before the handler takes a tenth of the time of a short call.
    if (shortcuts.get(listener)?.(request, response) === true) return;
    for (const handle of hapiListeners) handle.call(listener, request, response);
  });
}

function hasNoPluginExtension(server: Server): boolean {
  // hapi has no public API for this. The one extension is ours.
  const { _core: core } = server as Server & { _core?: { extensions?: { route?: { onRequest?: Extensions } } } };
  return core?.extensions?.route?.onRequest?.nodes?.length === 1;
}

interface Extensions {
  readonly nodes: readonly unknown[] | null;
}

/**
 * Stops the server. Does nothing if the server never listened, because hapi would fail.
 *
 * @param timeoutMs how long connections in use may stay open
 * @throws the error or timeout of a plugin's `onPreStop`
 */
export async function stopServer(server: Server, timeoutMs: number): Promise<void> {
  const { listener } = server;
  if (!listener.listening) return;
  try {
    const timeoutMessage = "a plugin's onPreStop extension has not finished";
    await withDeadline(server.stop({ timeout: timeoutMs }), timeoutMs + extensionTimeoutMs, timeoutMessage);
  } finally {
    // After an error of `onPreStop`, hapi leaves the listener open.
    if (listener.listening) listener.close().closeAllConnections();
  }
}

export function routeExchanges(server: Server, handler: ExchangeHandler, endpoints: EndpointTable): void {
  addExchangeRoutes(server, handler, endpoints);
  shortcuts.set(server.listener, (request, response) => {
    const path = stripQuery(request.url);
    if (!endpoints.has(path) || !hasNoPluginExtension(server)) return false;
    // As in hapi, the end of the response covers an aborted request.
    request.on('error', ignoreError);
    try {
      handler.run(request, response, path);
      return true;
    } catch {
      // Falls back to hapi, which runs the request again, logs the error and sends a response.
      return false;
    }
  });
  server.ext('onRequest', (request, h) => {
    // A base URL with a trailing slash causes a double slash. hapi would interpret the first segment as a host.
    if (request.path.startsWith('//')) request.setUrl((request.raw.req.url ?? '').replace(/^\/+/, '/'));
    // Plugins' extensions have already run. hapi's router and body parser would double its cost.
    if (endpoints.has(request.path)) return handler.handle(request, h);
    if (isExchangePath(request.path, endpoints)) return h.continue;
    // hapi's ids contain the host name and the process id.
    request.info.id = createRequestId(Date.now());
    if (isDisconnected(request.raw.req, request.raw.res)) return h.abandon;
    sendContinue(request.raw.req);
    const { cookie } = request.raw.req.headers;
    if (cookie !== undefined) request.raw.req.headers.cookie = dropMalformedCookies(cookie);
    rewritePage(server, request);
    return h.continue;
  });
  server.ext('onPreResponse', (request, h) => renderHapiError(request, h, endpoints));
}

function addExchangeRoutes(server: Server, { handle: handler }: ExchangeHandler, endpoints: EndpointTable): void {
  const roots = versionSegments.map((name) => `/${name}`);
  const uploads = roots.map((root) => `/upload${root}`); // where Google's SDKs send files
  const paths = [
    ...roots,
    ...[...roots, ...uploads, '/v2', ...vendorSegments.map((name) => `/${name}`)].map((root) => `${root}/{path*}`),
    ...endpoints.aliases.flatMap((name) => [`/${name}`, `/${name}/{path*}`]),
  ];
  const options = { state: { parse: false }, timeout: { server: false, socket: false } } as const;
  const payload = {
    parse: false,
    output: 'stream',
    // Our limits apply when a stage reads the body, after authentication.
    maxBytes: Number.MAX_SAFE_INTEGER,
    timeout: false,
    override: 'application/octet-stream',
  } as const;
  for (const path of paths) {
    server.route({ method: 'GET', path, handler, options });
    server.route({ method: '*', path, handler, options: { ...options, payload } });
  }
}

function ignoreError(): void {}

function renderHapiError(
  request: Request,
  h: ResponseToolkit,
  endpoints: EndpointTable,
): symbol | ReturnType<ResponseToolkit['response']> {
  const { response } = request;
  if (!(response instanceof Error) || !isExchangePath(request.path, endpoints)) return h.continue;
  const { statusCode } = response.output;
  const error = new GatewayError(chooseErrorCode(statusCode), response.message);
  const dialect = detectDialect(undefined, request.raw.req.headers, request.path);
  const reply = renderError(error, { id: createRequestId(Date.now()), format: undefined, dialect });
  const errorResponse = h.response(reply.body as string).code(statusCode);
  for (const [name, value] of Object.entries(reply.headers)) errorResponse.header(name, value);
  errorResponse.header('cache-control', 'no-store');
  return errorResponse;
}

function chooseErrorCode(status: number): 'not_found' | 'invalid_request' | 'internal_error' {
  if (status === 404) return 'not_found';
  return status < 500 ? 'invalid_request' : 'internal_error';
}

const versions = versionSegments.join('|');
const apiPath = new RegExp(`^/(?:(?:${versions})(?:/|$)|(?:upload/(?:${versions})|v2|${vendorSegments.join('|')})/)`);

function isExchangePath(path: string, endpoints: EndpointTable): boolean {
  return apiPath.test(path) || endpoints.aliases.includes(toCanonicalPath(path).split('/')[2] ?? '');
}

/** RFC 6265 §4.1.1, quoted or not. */
const cookiePair =
  /^[!#$%&'*+.^`|~\w-]+=(?:[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*|"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")$/;

/**
 * Removes the cookies that hapi cannot parse. hapi drops all cookies if one is malformed, such as JSON set by another program on this host,
 * and the user would stay signed out for the lifetime of that cookie.
 */
export function dropMalformedCookies(header: string): string {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => cookiePair.test(pair) && !pair.startsWith('__proto__=')).join('; ');
}
