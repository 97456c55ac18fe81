import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '#core/platform/bounds.ts';

/*
 * A client may send requests before it has received the previous responses (RFC 9112 §9.3.2), and Node starts all of them at
 * once. Here, one request of a connection runs and a few are queued. If the queue is full, the connection's further input is
 * not parsed, and the connection closes after the last response. The input is still read and discarded, because a socket that
 * is not read does not report a disconnect.
 */

const lingerMs = 1_000; // lets the client read the response before the connection is reset
/**
 * How long a connection stays open after the last bytes of a truncated response. When a connection breaks, many HTTP libraries (such as
 * aiohttp and Node's fetch) drop the bytes that their caller has not read yet, and those bytes contain the error.
 */
export const truncationGraceMs = 250;

interface QueuedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly start: RequestListener;
}

const runningKey = Symbol('running response');
const pipelineKey = Symbol('queued requests');

interface ClientSocket extends Socket {
  [runningKey]?: ServerResponse; // the last one if none is running
  [pipelineKey]?: { readonly queue: QueuedRequest[]; isClosing: boolean }; // set when the client first pipelines a request
  /** Node's untyped parser of the connection. If `onIncoming` returns 2, parsing ends. */
  parser?: { onIncoming: (request: IncomingMessage, keepAlive: boolean) => number } | null;
}

/**
 * Runs the requests of each connection one after another, before all existing listeners of the server.
 *
 * @param onDropped called when a connection has too many queued requests
 */
export function serveInTurn(server: Server, onDropped: (socket: Socket) => void): void {
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    const listeners = server.listeners(event) as RequestListener[];
    if (listeners.length === 0) continue;
    const start: RequestListener = (request, response) => {
      for (const listener of listeners) listener.call(server, request, response);
    };
    server.removeAllListeners(event);
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const socket: ClientSocket = request.socket;
      const previous = socket[runningKey];
      if (previous === undefined || previous.closed || previous === response) {
        socket[runningKey] = response;
        start(request, response);
      } else if (!enqueue(socket, previous, { request, response, start })) {
        onDropped(socket);
        closeAfterRunning(socket);
      }
    });
  }
}

export function runningResponse(socket: Socket): ServerResponse | undefined {
  const response = (socket as ClientSocket)[runningKey];
  return response?.closed === false ? response : undefined;
}

/** Stops parsing requests of this connection, and closes it after the responses to the running and queued requests. */
export function closeAfterRunning(socket: ClientSocket): void {
  const pipelineState = getPipelineState(socket);
  const response = socket[runningKey];
  if (pipelineState.isClosing || response === undefined) return;
  pipelineState.isClosing = true;
  if (pipelineState.queue.length === 0) response.once('close', () => startNext(socket));
  const lastResponse = pipelineState.queue.at(-1)?.response ?? response;
  if (!lastResponse.headersSent) lastResponse.setHeader('connection', 'close');
  // Node would destroy the connection, and the reset could overtake the responses.
  socket.destroySoon = () => closeGracefully(socket);
  stopParsing(socket);
}

/**
 * Closes the connection of a response whose body ends early, after giving the client time to read the last bytes. Queued requests are
 * recorded but not answered, because the client could not find the start of their responses.
 */
export function closeTruncated(response: ServerResponse): void {
  const socket: ClientSocket | null = response.socket;
  if (socket === null) {
    response.destroy();
    return;
  }
  stopParsing(socket);
  // Node would destroy the connection immediately.
  socket.destroySoon = () => undefined;
  response.once('finish', () => {
    const close = () => (isSizedByClose(response) ? socket.resetAndDestroy() : closeGracefully(socket));
    if (getPipelineState(socket).queue.length > 0) close();
    else setTimeout(close, truncationGraceMs).unref();
  });
}

function isSizedByClose({ useChunkedEncodingByDefault }: ServerResponse): boolean {
  // On HTTP/1.0, the end of the connection is the end of the body: only a reset shows that the body is incomplete.
  return !useChunkedEncodingByDefault;
}

export function closeGracefully(socket: Socket, bytes = ''): void {
  if (socket.writableEnded) return;
  socket.end(bytes);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function getPipelineState(socket: ClientSocket): NonNullable<ClientSocket[typeof pipelineKey]> {
  return (socket[pipelineKey] ??= { queue: [], isClosing: false });
}

function enqueue(socket: ClientSocket, previous: ServerResponse, next: QueuedRequest): boolean {
  const { queue } = getPipelineState(socket);
  if (queue.length === bounds.pipelinedRequests || !hasShortBody(next.request)) return false;
  queue.push(next);
  if (queue.length === 1) previous.once('close', () => startNext(socket));
  return true;
}

function hasShortBody({ headers }: IncomingMessage): boolean {
  // A long body would pause the socket until the request runs.
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= bounds.pipelinedBody;
}

function startNext(socket: ClientSocket): void {
  const { queue, isClosing } = getPipelineState(socket);
  // The client has disconnected, but each queued request is still recorded.
  if (socket.destroyed || socket.writableEnded)
    for (const { request, response, start } of queue.splice(0)) start(request, response);
  const next = queue.shift();
  if (next === undefined) {
    if (isClosing) closeGracefully(socket);
    return;
  }
  socket[runningKey] = next.response;
  if (queue.length > 0 || isClosing) next.response.once('close', () => startNext(socket));
  next.start(next.request, next.response);
}

function stopParsing(socket: ClientSocket): void {
  // Stops parsing the remainder of the current 64 KB chunk.
  if (socket.parser) socket.parser.onIncoming = () => 2;
  process.nextTick(discardInput, socket);
}

function discardInput(socket: Socket): void {
  let bytes = 0;
  // Added before the parser's listener is removed, because Node would otherwise give the input back to the parser.
  const parserListeners = socket.listeners('data') as ((chunk: Buffer) => void)[];
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bounds.discardedBody) socket.destroy();
  });
  for (const listener of parserListeners) socket.removeListener('data', listener);
  socket.resume();
}
