import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '#core/platform/errors/table.ts';

/** Subprotocol with which browsers send the key, because they cannot set headers of a WebSocket. */
const keyProtocol = 'openai-insecure-api-key.';

/** Headers that belong to the connection or must not reach a request: cookies identify no account here. */
const left = /^(?:connection|upgrade|cookie|content-length|content-type|transfer-encoding|expect|te|sec-websocket-.*)$/;

/** The headers of each request on a WebSocket: the headers of its handshake, with the key in the same place as in a POST. */
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

/** The protocol to answer with: a browser closes a socket without an offered protocol. Never the protocol with the key. */
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

/** The error for a request without a key. If keys are required, a stage rejects the request earlier. */
export function missingKey(): GatewayError {
  return new GatewayError('invalid_api_key', 'The API key is missing. Send it as "Authorization: Bearer …".');
}
