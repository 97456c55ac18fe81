import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '#core/platform/errors/table.ts';

/** Prefix of the subprotocol in which browsers send the key, because they cannot set headers on a WebSocket. */
const keyProtocolPrefix = 'openai-insecure-api-key.';

/** Headers that belong to the connection or must not reach a request. Cookies do not identify accounts here. */
const omittedHeaders =
  /^(?:connection|upgrade|cookie|content-length|content-type|transfer-encoding|expect|te|sec-websocket-.*)$/;

/** Creates the headers for all requests on a WebSocket from its handshake, with the key where a POST has it. */
export function createSocketHeaders(handshake: IncomingHttpHeaders): IncomingHttpHeaders {
  const forwardedHeaders = Object.entries(handshake).filter(([name]) => !omittedHeaders.test(name));
  // A key in `x-api-key` is kept anyway; only a bearer token would be overwritten.
  const key = hasBearer(handshake) ? undefined : readProtocolKey(handshake['sec-websocket-protocol']);
  return {
    ...Object.fromEntries(forwardedHeaders),
    'content-type': 'application/json',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
}

export function createTurnHeaders(headers: IncomingHttpHeaders, bodyBytes: number): IncomingHttpHeaders {
  return { ...headers, 'content-length': String(bodyBytes) };
}

export function hasKey(headers: IncomingHttpHeaders): boolean {
  return ['authorization', 'x-api-key', 'x-goog-api-key'].some((name) => (headers[name] ?? '') !== '');
}

/**
 * Chooses the first subprotocol offered, but never the one with the key. A browser that offered subprotocols closes the socket if the
 * response has none.
 */
export function chooseProtocol(offered: Iterable<string>): string | false {
  for (const protocol of offered) if (!protocol.startsWith(keyProtocolPrefix)) return protocol;
  return false;
}

function hasBearer({ authorization }: IncomingHttpHeaders): boolean {
  return /^bearer +\S/i.test(authorization ?? '');
}

function readProtocolKey(offered = ''): string | undefined {
  const entries = offered.split(',').map((entry) => entry.trim());
  const keyEntry = entries.find(
    (entry) => entry.startsWith(keyProtocolPrefix) && entry.length > keyProtocolPrefix.length,
  );
  return keyEntry?.slice(keyProtocolPrefix.length);
}

export function createMissingKeyError(): GatewayError {
  return new GatewayError('invalid_api_key', 'The API key is missing. Send it as "Authorization: Bearer …".');
}
