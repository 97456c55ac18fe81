import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '#core/platform/bounds.ts';
import { GatheredRequest } from './gathered-request.ts';
import type { ParserRefusals } from './parser-refusals.ts';

/** Not imported, because an import reads every export of the module, one of which loads all of Node's built-in undici. */
const { createServer } = process.getBuiltinModule('node:http');

interface ListenerTimeouts {
  readonly headerTimeout: number; // seconds for the request line and the headers
  readonly keepAliveTimeout: number; // seconds until an idle connection is closed
  readonly requestTimeout?: number; // seconds for a complete request, higher than the body reader's limit
}

const defaultRequestTimeout = 600;

const responsesAwaitingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Creates the HTTP server under hapi, which has no options for these limits.
 *
 * @param shouldUpgrade decides which upgrade requests are accepted; not supported by every Node.js, see `supportsUpgradeFilter`
 */
export function createListener(shouldUpgrade: (request: IncomingMessage) => boolean = () => false): Server {
  const server = createServer({
    IncomingMessage: GatheredRequest,
    // How often Node checks its timeouts.
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: bounds.requestHead,
    shouldUpgradeCallback: shouldUpgrade,
    // `ParserRefusals` refuses such requests. Node would refuse them without emitting an event.
    requireHostHeader: false,
  });
  server.on('connection', cacheAddress);
  return server;
}

function cacheAddress({ remoteAddress }: Socket): string | undefined {
  // Once read, Node caches it; the system no longer has it after a reset.
  return remoteAddress;
}

/**
 * Replaces hapi's listeners except the one for requests. hapi would handle a request that expects `100 Continue` twice, and respond to every
 * parser error with 400.
 */
export function replaceHapiListeners(server: Server, refusals: ParserRefusals): void {
  server.removeAllListeners('checkContinue');
  server.removeAllListeners('clientError');
  // `100 Continue` is sent when a stage reads the body, not before.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    responsesAwaitingContinue.set(request, response);
    server.emit('request', request, response);
  });
  refusals.attach(server);
}

/** May be called while the server listens. */
export function applyTimeouts(
  server: Server,
  { headerTimeout, keepAliveTimeout, requestTimeout = defaultRequestTimeout }: ListenerTimeouts,
): void {
  server.requestTimeout = requestTimeout * 1000;
  server.headersTimeout = headerTimeout * 1000;
  server.keepAliveTimeout = keepAliveTimeout * 1000;
}

export function sendContinue(request: IncomingMessage): void {
  const response = responsesAwaitingContinue.get(request);
  if (response === undefined) return;
  responsesAwaitingContinue.delete(request);
  response.writeContinue();
}
