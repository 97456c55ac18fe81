import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '#core/platform/errors/table.ts';

/** Subprotocol with the key of a browser, which cannot set headers of a WebSocket. */
const keyProtocol = 'openai-insecure-api-key.';

/** Headers of the connection, and those that must not reach a request: cookies identify no account here. */
const left = /^(?:connection|upgrade|cookie|content-length|content-type|transfer-encoding|expect|te|sec-websocket-.*)$/;

/** The headers of each request on a WebSocket: those with which it was opened. The key is in them as in those of a POST. */
export function headersOfSocket(handshake: IncomingHttpHeaders): IncomingHttpHeaders {
  const kept = Object.entries(handshake).filter(([name]) => !left.test(name));
  const key = hasBearer(handshake) ? undefined : keyInProtocols(handshake['sec-websocket-protocol']);
  return {
    ...Object.fromEntries(kept),
    'content-type': 'application/json',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
}

/** The headers of one request. @param size bytes of its body */
export function headersOfTurn(headers: IncomingHttpHeaders, size: number): IncomingHttpHeaders {
  return { ...headers, 'content-length': String(size) };
}

/** True if the handshake has a key, of any service. */
export function hasKey(headers: IncomingHttpHeaders): boolean {
  return ['authorization', 'x-api-key', 'x-goog-api-key'].some((name) => (headers[name] ?? '') !== '');
}

/** The protocol to answer: a browser closes a socket without one of those that it has offered. Never that with the key. */
export function chooseProtocol(offered: Iterable<string>): string | false {
  for (const protocol of offered) if (!protocol.startsWith(keyProtocol)) return protocol;
  return false;
}

function hasBearer({ authorization }: IncomingHttpHeaders): boolean {
  return /^bearer +\S/i.test(authorization ?? '');
}

function keyInProtocols(offered = ''): string | undefined {
  const entries = offered.split(',').map((entry) => entry.trim());
  const found = entries.find((entry) => entry.startsWith(keyProtocol) && entry.length > keyProtocol.length);
  return found?.slice(keyProtocol.length);
}

/** For a request without a key. A stage refuses it before, where keys are needed. */
export function missingKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'The API key is missing. Send it as "Authorization: Bearer …".');
}
