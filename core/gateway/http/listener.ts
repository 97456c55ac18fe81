import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '#core/platform/bounds.ts';
import { GatheredRequest } from './gathered-request.ts';
import type { ParserRefusals } from './parser-refusals.ts';

/** Not imported, because that reads every export of the module, one of which loads all of Node's built-in undici. */
const { createServer } = process.getBuiltinModule('node:http');

interface ListenerLimits {
  readonly headerTimeout: number; // seconds for the request line and the headers
  readonly keepAliveTimeout: number; // seconds an idle connection stays open
  /** Seconds for a whole request, above the body reader's limit; default 600. */
  readonly requestTimeout?: number;
}

const defaultRequestTimeout = 600;

const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Creates the HTTP server under hapi, which has no options for these limits.
 *
 * @param shouldUpgrade decides which upgrade requests are accepted; ignored by a Node.js that does not ask, see `asksBeforeUpgrades`
 */
export function createListener(shouldUpgrade: (request: IncomingMessage) => boolean = () => false): Server {
  const server = createServer({
    IncomingMessage: GatheredRequest,
    // How often Node checks its timeouts.
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: bounds.requestHead,
    shouldUpgradeCallback: shouldUpgrade,
    // Otherwise Node would answer such requests itself, unnoticed; `ParserRefusals` does it.
    requireHostHeader: false,
  });
  server.on('connection', keepAddress);
  return server;
}

/** Reads the peer's address so that Node caches it: after a reset, the system no longer knows it. */
function keepAddress({ remoteAddress }: Socket): string | undefined {
  return remoteAddress;
}

/**
 * Replaces hapi's listeners except the one for requests: hapi would handle a request that expects `100 Continue` twice, and answers every
 * parser error with 400.
 */
export function replaceHapiListeners(server: Server, refusals: ParserRefusals): void {
  server.removeAllListeners('checkContinue');
  server.removeAllListeners('clientError');
  // `100 Continue` is sent when a stage reads the body, not before.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response);
    server.emit('request', request, response);
  });
  refusals.attach(server);
}

/** Applies the limits of gateway.yaml. May be called while the server listens. */
export function limitListener(
  server: Server,
  { headerTimeout, keepAliveTimeout, requestTimeout = defaultRequestTimeout }: ListenerLimits,
): void {
  server.requestTimeout = requestTimeout * 1000;
  server.headersTimeout = headerTimeout * 1000;
  server.keepAliveTimeout = keepAliveTimeout * 1000;
}

/** Sends `100 Continue` if the client expects it. */
export function sendContinue(request: IncomingMessage): void {
  const response = waiting.get(request);
  if (response === undefined) return;
  waiting.delete(request);
  response.writeContinue();
}
