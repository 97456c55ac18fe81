import type { IncomingMessage } from 'node:http';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import type { Dialect } from '#core/platform/errors/dialects.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Host } from '../host/host.ts';
import { type Endpoint, Exchange } from '../pipeline/exchange.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { ReadClientConnection } from './client-connection.ts';
import type { BodyLimits } from './collect-body.ts';
import type { CorsOrigins } from './cors.ts';
import { detectDialect } from './dialect.ts';
import { sendContinue } from './listener.ts';
import { toCanonicalPath, type EndpointTable, type EndpointMatch, type WrongMethod } from './paths.ts';
import { RequestBody } from './request-body.ts';
import { findUnservedMessage } from './unserved.ts';

/** The configuration that serves an exchange. A reload replaces it as a whole. */
export interface Serving {
  readonly host: Host;
  readonly pipeline: Pipeline;
  readonly bodyLimits: BodyLimits;
  readonly writeTimeout: number; // seconds until a client that reads nothing is disconnected
  readonly readConnection: ReadClientConnection;
  readonly corsOrigins: CorsOrigins;
}

/** A second configuration that serves some of the accounts. */
export interface Variant {
  readonly number: number;
  readonly serving: Serving;
  includes(accountId: string): boolean;
}

/** @param refusal error for the client if the request is refused; it still passes through the pipeline, so that it is recorded */
export function openExchange(
  req: IncomingMessage,
  path: string,
  { host, bodyLimits, readConnection }: Serving,
  endpoints: EndpointTable,
  refusal: GatewayError | undefined,
): Exchange {
  const method = req.method ?? 'GET';
  const match = matchEndpoint(endpoints, method, path, req, refusal);
  const receivedAt = host.now();
  const peer = req.socket.remoteAddress;
  const remoteAddress = peer === undefined ? undefined : readConnection(peer, req.headers).address;
  const memory = host.memory.createShare(remoteAddress ?? '');
  return new Exchange({
    id: createRequestId(receivedAt),
    endpoint: match.endpoint,
    params: match.params,
    dialect: detectDialect(match.endpoint, req.headers, path),
    method,
    path,
    query: parseQuery(req.url),
    headers: req.headers,
    remoteAddress,
    receivedAt,
    memory,
    body: new RequestBody(req, bodyLimits, memory, () => sendContinue(req)),
  });
}

function matchEndpoint(
  endpoints: EndpointTable,
  method: string,
  path: string,
  req: IncomingMessage,
  refusal: GatewayError | undefined,
): EndpointMatch {
  const match = endpoints.findEndpoint(method === 'HEAD' ? 'GET' : method, path);
  if (match !== undefined && 'endpoint' in match)
    return refusal === undefined
      ? match
      : createRefusingMatch(refusal, detectDialect(match.endpoint, req.headers, path));
  return createRefusingMatch(refusal ?? createMismatchError(method, path, match, req));
}

function createRefusingMatch(error: GatewayError, dialect?: Dialect): EndpointMatch {
  return { endpoint: refusingEndpoint(error, dialect), params: {} };
}

/** A refused request passes through the pipeline with this endpoint, so that it is recorded. */
export function refusingEndpoint(error: GatewayError, dialect?: Dialect): Endpoint {
  return {
    name: 'unknown',
    dialect,
    method: 'GET',
    path: '/v1/',
    isMetered: false,
    // Clients that try a WebSocket first may send no key yet, and treat any status other than 426 as a fault.
    isPublic: error.code === 'upgrade_required',
    answer: () => {
      throw error;
    },
  };
}

/** hapi's URL object would cost more than the rest of hapi's work for a request. */
export function parseQuery(url: string | undefined): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(url ?? '')?.[1]);
}

function createMismatchError(
  method: string,
  path: string,
  match: WrongMethod | undefined,
  req: IncomingMessage,
): GatewayError {
  const unserved = findUnservedMessage(toCanonicalPath(path));
  if (unserved !== undefined) return new GatewayError('not_found', unserved);
  if (isWebSocketAttempt(req)) {
    // Codex tries a WebSocket first. On this status it falls back to HTTP immediately, on others only after seconds.
    const headers = { upgrade: 'HTTP/1.1', connection: 'upgrade' };
    return new GatewayError('upgrade_required', 'WebSockets are not supported. Send a POST request.', { headers });
  }
  if (match === undefined)
    return new GatewayError('not_found', `Path "${path}" not found. GET /v1/models lists the models.`);
  const allow = match.allowedMethods.join(', ');
  return new GatewayError('method_not_allowed', `${method} is not allowed here. Use ${allow}.`, { headers: { allow } });
}

function isWebSocketAttempt({ method, headers }: IncomingMessage): boolean {
  if (headers.upgrade?.toLowerCase() === 'websocket') return true;
  // A proxy may have dropped `Upgrade` (RFC 9110 §7.6.1), but it forwards the other headers (RFC 6455 §4.1).
  return method === 'GET' && headers['sec-websocket-key'] !== undefined;
}
