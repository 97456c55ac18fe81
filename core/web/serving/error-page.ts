import { join } from 'node:path';
import accept from '@hapi/accept';
import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { detectDialect } from '#core/gateway/http/dialect.ts';
import { renderError } from '#core/gateway/pipeline/render-error.ts';
import { isConnectionError } from '#core/platform/errors/connection-error.ts';
import { type ErrorCode, type ErrorDetails, GatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import { isHtmx } from '../pages/htmx.ts';
import { PageError } from '../pages/page-error.ts';
import { wellKnownPaths } from '../pages/paths.ts';
import { viewsFolder } from '../pages/views.ts';
import type { Translator } from '../texts/translator.ts';
import type { Renderer } from './renderer.ts';
import { setPageHeaders } from './routes.ts';
import type { Visit } from './visit.ts';

const describedStatuses = new Set([400, 401, 403, 404, 405, 413, 429, 500, 503]); // with their own texts; others use those for 400 or 500

const retryAfterSeconds = 5;

const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'forbidden',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'request_too_large',
  415: 'unsupported_media_type',
  503: 'unavailable',
};

/** Returns true if the client prefers HTML to JSON. */
export function wantsPage({ raw }: Pick<Request, 'raw'>): boolean {
  const { headers } = raw.req;
  if (isHtmx({ raw })) return true;
  try {
    return accept.mediaType(headers.accept, ['application/json', 'text/html']) === 'text/html';
  } catch {
    return false;
  }
}

/** If a dependency cannot be reached, the status is 503. */
export function toPageError(error: Error & { output?: { statusCode: number } }): PageError {
  if (error instanceof PageError) return error;
  const status = getStatus(error);
  return new PageError(status, `error.${findDescribedStatus(status)}.text`, { cause: error });
}

function getStatus(error: Error & { output?: { statusCode: number } }): number {
  if (error instanceof GatewayError) return error.status(undefined);
  const status = error.output?.statusCode ?? 500;
  return status === 500 && (error instanceof SharedUnavailable || isConnectionError(error)) ? 503 : status;
}

function findDescribedStatus(status: number): number {
  if (describedStatuses.has(status)) return status;
  return status < 500 ? 400 : 500;
}

/** Renders the error as JSON, in the caller's API dialect. */
export function renderErrorJson(
  error: PageError,
  { request, path }: { readonly request: Request; readonly path: string },
  h: ResponseToolkit,
  translator: Translator,
): ResponseObject {
  const { cause } = error.details;
  const gatewayError =
    cause instanceof GatewayError
      ? cause
      : new GatewayError(
          chooseCode(error.status),
          composeMessage(error, { path, method: request.method }, translator),
          getRetryDetails(error),
        );
  const dialect = detectDialect(undefined, request.raw.req.headers);
  const reply = renderError(gatewayError, { id: request.info.id, format: undefined, dialect });
  const response = h.response(reply.body as string).code(error.status);
  for (const [name, value] of Object.entries(reply.headers)) response.header(name, value);
  return response.header('cache-control', 'no-store');
}

function getRetryDetails({ status }: PageError): ErrorDetails {
  return status === 503 ? { retryAfter: retryAfterSeconds } : {};
}

function chooseCode(status: number): ErrorCode {
  return codesByStatus[status] ?? (status < 500 ? 'invalid_request' : 'internal_error');
}

function composeMessage(
  error: PageError,
  { path, method }: Pick<Request, 'path' | 'method'>,
  translator: Translator,
): string {
  if (error.status === 404) return `Path "${path}" not found.`;
  if (error.status === 405) return `${method.toUpperCase()} is not allowed at "${path}".`;
  if (error.status === 500) return 'Internal error. Quote the request id when you contact support.';
  const t = translator.in('en');
  return `${t(chooseTitle(error, translator))} ${t(error.text, error.details.values)}`;
}

/** Renders the error as a page with a button; if the layout itself fails, without the layout and the button. */
export async function renderErrorPage(
  error: PageError,
  visit: Visit,
  h: ResponseToolkit,
  { renderer, translator, log }: { renderer: Renderer; translator: Translator; log: Logger },
): Promise<ResponseObject> {
  const { t } = visit;
  const { values = {}, action = chooseAction(error, visit, renderer) } = error.details;
  const title = chooseTitle(error, translator);
  let html: string;
  try {
    html = renderer.render(visit, {
      title: t(title, values),
      layout: visit.account === undefined ? 'site' : 'account',
      template: join(viewsFolder, 'shell/error.eta'),
      values: {
        text: t(error.text, { id: visit.id, ...values }),
        id: visit.id,
        action: { path: action.path, label: t(action.label) },
      },
    });
  } catch (failure) {
    log.error(`error page of ${visit.id} failed`, failure);
    html = renderBarePage(visit, t(title, values));
  }
  const response = h.response(html).code(error.status);
  if (error.status === 503) response.header('retry-after', String(retryAfterSeconds));
  return setPageHeaders(response, visit, 'no-store');
}

function chooseAction({ status }: PageError, visit: Visit, renderer: Renderer): { path: string; label: string } {
  if (status === 503 && visit.isGet) return { path: visit.path, label: 'error.again' };
  const hasDashboard = visit.account !== undefined && renderer.has(wellKnownPaths.dashboard);
  return hasDashboard
    ? { path: wellKnownPaths.dashboard, label: 'error.dashboard' }
    : { path: '/', label: 'error.home' };
}

function chooseTitle({ status, text }: PageError, translator: Translator): string {
  if (translator.has(`${text}.title`)) return `${text}.title`;
  return `error.${findDescribedStatus(status)}.title`;
}

function renderBarePage({ id, language }: Visit, title: string): string {
  return `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${id}</p>`;
}
