import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '../bounds.ts';

export interface ListenerLimits {
  readonly headerTimeout: number; // seconds for the request line and the headers
  readonly keepAliveTimeout: number; // seconds an idle connection stays open
  /** Seconds for a whole request, above what the reader of its body allows; 600 when left out. */
  readonly requestTimeout?: number;
}

const defaultRequestTimeout = 600;

/** Requests that expect `100 Continue` and have not got it yet. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** The current, or else the last, response of a connection. */
const latest = new WeakMap<Socket, ServerResponse>();

/** Creates the HTTP server under hapi, which has no options for these limits. */
export function createListener(): Server {
  const server = createServer({
    // How often Node checks its timeouts.
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: bounds.requestHead,
  });
  return server;
}

/**
 * Replaces hapi's own listeners beside that for requests: it would handle a request that expects `100 Continue` twice,
 * and answers every parser error with 400.
 */
export function replaceHapiListeners(server: Server): void {
  server.removeAllListeners('checkContinue');
  server.removeAllListeners('clientError');
  // `100 Continue` is sent when a stage reads the body, not before.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response);
    server.emit('request', request, response);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => latest.set(socket, response));
  server.on('clientError', refuseConnection);
}

/** Status for errors of the parser and of the listener; 400 for all others. */
const statuses: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/** Ms for which a refused connection stays open, so that the client reads the answer before a reset. */
const lingering = 1_000;

/** Answers a malformed request, unless another answer is in flight on the connection, and closes the connection. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  const response = latest.get(socket);
  const isAnswering = response !== undefined && response.headersSent && !response.writableFinished;
  if (error.code === 'ECONNRESET' || isAnswering) {
    socket.destroy();
    return;
  }
  // A client that keeps sending gets here again.
  if (!socket.writable) return;
  const status = statuses[error.code ?? ''] ?? 400;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), lingering);
}

/** Applies the limits of gateway.yaml, also while the server listens. */
export function limitListener(
  server: Server,
  { headerTimeout, keepAliveTimeout, requestTimeout = defaultRequestTimeout }: ListenerLimits,
): void {
  server.requestTimeout = requestTimeout * 1000;
  server.headersTimeout = headerTimeout * 1000;
  server.keepAliveTimeout = keepAliveTimeout * 1000;
}

/** Sends `100 Continue` to a client that expects it; does nothing otherwise. */
export function sendContinue(request: IncomingMessage): void {
  const response = waiting.get(request);
  if (response === undefined) return;
  waiting.delete(request);
  response.writeContinue();
}
