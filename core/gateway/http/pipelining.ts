import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '#core/platform/bounds.ts';

/*
 * A client may send requests before it has the previous responses (RFC 9112 §9.3.2), and Node starts all of them at once.
 * Here one request of a connection runs and a few wait. At one more, nothing further is parsed, and the connection closes
 * after the last response. Its input is read and discarded, because a socket that is not read does not tell that its client
 * has left.
 */

/** Ms that a connection ended by the gateway stays open, so that the client reads the response before a reset. */
const lingerMs = 1_000;

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly start: RequestListener;
}

const running = Symbol('running response');
const pipeline = Symbol('waiting requests');

interface ClientSocket extends Socket {
  [running]?: ServerResponse; // or the last response
  /** Set once the client pipelined requests. */
  [pipeline]?: { readonly waiting: Waiting[]; isClosing: boolean };
  /** Node's untyped parser of the connection. If `onIncoming` returns 2, parsing ends. */
  parser?: { onIncoming: (request: IncomingMessage, keepAlive: boolean) => number } | null;
}

/**
 * Runs the requests of each connection one after another, before all existing listeners of the server.
 *
 * @param onDropped called when a connection has too many waiting requests
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
      const previous = socket[running];
      if (previous === undefined || previous.closed || previous === response) {
        socket[running] = response;
        start(request, response);
      } else if (!enqueue(socket, previous, { request, response, start })) {
        onDropped(socket);
        closeAfterRunning(socket);
      }
    });
  }
}

/** Returns the running response of a connection; undefined if there is none. */
export function runningResponse(socket: Socket): ServerResponse | undefined {
  const response = (socket as ClientSocket)[running];
  return response?.closed === false ? response : undefined;
}

/** Stops parsing requests of this connection, and closes it once the running and waiting ones are answered. */
export function closeAfterRunning(socket: ClientSocket): void {
  const queue = queueOf(socket);
  const response = socket[running];
  if (queue.isClosing || response === undefined) return;
  queue.isClosing = true;
  if (queue.waiting.length === 0) response.once('close', () => startNext(socket));
  const last = queue.waiting.at(-1)?.response ?? response;
  if (!last.headersSent) last.setHeader('connection', 'close');
  // Node would destroy the connection, and the reset could overtake the responses.
  socket.destroySoon = () => closeGently(socket);
  // Stops parsing the remainder of the current 64 KB chunk.
  if (socket.parser) socket.parser.onIncoming = () => 2;
  process.nextTick(discardInput, socket);
}

/** Sends the last bytes of a connection, and destroys it after `lingerMs`. */
export function closeGently(socket: Socket, bytes = ''): void {
  if (socket.writableEnded) return;
  socket.end(bytes);
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

function queueOf(socket: ClientSocket): NonNullable<ClientSocket[typeof pipeline]> {
  return (socket[pipeline] ??= { waiting: [], isClosing: false });
}

function enqueue(socket: ClientSocket, previous: ServerResponse, next: Waiting): boolean {
  const { waiting } = queueOf(socket);
  if (waiting.length === bounds.pipelinedRequests || !isShort(next.request)) return false;
  if (waiting.push(next) === 1) previous.once('close', () => startNext(socket));
  return true;
}

/** Longer bodies would pause the socket until their request runs. */
function isShort({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= bounds.pipelinedBody;
}

function startNext(socket: ClientSocket): void {
  const { waiting, isClosing } = queueOf(socket);
  // Each request is recorded, although none can be answered.
  if (socket.destroyed || socket.writableEnded)
    for (const { request, response, start } of waiting.splice(0)) start(request, response);
  const next = waiting.shift();
  if (next === undefined) {
    if (isClosing) closeGently(socket);
    return;
  }
  socket[running] = next.response;
  if (waiting.length > 0 || isClosing) next.response.once('close', () => startNext(socket));
  next.start(next.request, next.response);
}

function discardInput(socket: Socket): void {
  let bytes = 0;
  // This listener takes the input from the parser; removing the parser's own listener first would return the input to it.
  const parsed = socket.listeners('data') as ((chunk: Buffer) => void)[];
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bounds.discardedBody) socket.destroy();
  });
  for (const listener of parsed) socket.removeListener('data', listener);
  socket.resume();
}
