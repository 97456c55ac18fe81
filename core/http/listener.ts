import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '../bounds.ts';

export interface ListenerLimits {
  readonly headerTimeout: number; // seconds for the request line and the headers
  readonly keepAliveTimeout: number; // seconds an idle connection stays open
}

/** Whole requests that take longer than this are cut, however steadily they drip. Seconds. */
const uploadTimeout = 600;

/** Clients that asked for `100 Continue` and have not been told yet. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** The answer that a connection is at, or was at last. */
const latest = new WeakMap<Socket, ServerResponse>();

/** The HTTP server under hapi, made here because hapi passes none of these limits on. */
export function createListener(): Server {
  const server = createServer({
    requestTimeout: uploadTimeout * 1000,
    // Node checks its timeouts only this often.
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: bounds.requestHead,
  });
  return server;
}

/**
 * Takes over what hapi listens to beside requests. It runs a request that expects `100 Continue` on its own account, so
 * that it would run twice, and says 400 to whatever the parser refuses.
 */
export function tameHapi(server: Server): void {
  server.removeAllListeners('checkContinue');
  server.removeAllListeners('clientError');
  // Whoever asks before sending a large body is told to go on only when a stage wants that body.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response);
    server.emit('request', request, response);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => latest.set(socket, response));
  server.on('clientError', refuseConnection);
}

/** What the parser's and the listener's errors are called on the wire; 400 for all others. */
const statuses: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/** Ms for which a refused connection stays open, so that its client sees the answer before a reset. */
const lingering = 1_000;

/** Answers what is no request, unless an answer is under way on the connection, and closes it. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  const response = latest.get(socket);
  const isAnswering = response !== undefined && response.headersSent && !response.writableFinished;
  if (error.code === 'ECONNRESET' || isAnswering) {
    socket.destroy();
    return;
  }
  // A client that goes on sending gets here again.
  if (!socket.writable) return;
  const status = statuses[error.code ?? ''] ?? 400;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  setTimeout(() => socket.destroy(), lingering);
}

/** Sets what gateway.yaml says; may change while the server listens. */
export function limitListener(server: Server, { headerTimeout, keepAliveTimeout }: ListenerLimits): void {
  server.headersTimeout = headerTimeout * 1000;
  server.keepAliveTimeout = keepAliveTimeout * 1000;
}

/** Sends `100 Continue` to a client that waits for it; nothing otherwise. */
export function inviteBody(request: IncomingMessage): void {
  const response = waiting.get(request);
  if (response === undefined) return;
  waiting.delete(request);
  response.writeContinue();
}
