import { type Dialect, dialects } from '#core/platform/errors/dialects.ts';
import { renderStreamMessage } from '#core/platform/errors/stream-wording.ts';
import type { Audience, ErrorDetails, GatewayError } from '#core/platform/errors/table.ts';
import type { Reply } from './reply.ts';

export interface Caller {
  readonly id: string;
  readonly format: Audience | undefined;
  readonly dialect: Dialect;
}

/** Renders an error as the body, status and headers that the caller's SDK understands. No other code turns errors into bytes. */
export function renderError(error: GatewayError, caller: Caller): Reply {
  return {
    status: error.status(caller.format),
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...createRetryHeaders(error.details),
      ...(error.isFinal && { 'x-should-retry': 'false' }),
      ...error.details.headers,
    },
    body: JSON.stringify(createErrorBody(error, caller, composeMessage(error, caller.dialect))),
  };
}

function createRetryHeaders({ retryAfter }: ErrorDetails): Record<string, string> {
  // Rounded up to whole seconds, so that a client that waits exactly this long is not early.
  return retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) };
}

function createErrorBody(error: GatewayError, { dialect, id, format }: Caller, message: string): object {
  const status = error.status(format);
  const { param, anthropic: details } = error.details;
  return dialects[dialect].renderErrorBody({ ...error.wording(dialect, status), message, status, id, param, details });
}

function composeMessage(error: GatewayError, dialect: Dialect): string {
  const message = error.messageFor(dialect);
  // The upstream's message already names the parameter, in the upstream's format.
  if (dialects[dialect].hasParam || error.code === 'upstream_rejected') return message;
  const { param } = error.details;
  return param === undefined || message.toLowerCase().includes(param.toLowerCase()) ? message : `${param}: ${message}`;
}

/**
 * Renders the error as the last event of a stream, worded so that clients recover. If the connection just broke, clients would retry
 * without logging a reason. The format's end mark does not follow, because clients that ignore errors would treat the reply as complete.
 */
export function renderStreamError(error: GatewayError, caller: Caller): string {
  if (caller.format?.renderStreamError !== undefined) return caller.format.renderStreamError(error, caller.id);
  const message = renderStreamMessage(error, composeMessage(error, caller.dialect));
  const data = `data: ${JSON.stringify(createErrorBody(error, caller, message))}\n\n`;
  return dialects[caller.dialect].renderStreamEnd(data);
}

/** Renders text that keeps an idle stream open. All clients of the format ignore it. */
export function renderKeepAlive(format: Audience | undefined): string {
  return format?.keepAlive ?? ': keep-alive\n\n';
}
