import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createListenRefusal } from '#core/platform/errors/start-refused.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { renderError } from '../pipeline/render-error.ts';
import { createRequestId } from '../records/request-id.ts';
import { type InheritedSockets, type ListenAddress, listenOnSockets } from './accept.ts';
import { detectDialect } from './dialect.ts';
import { stripQuery } from './paths.ts';

/**
 * How long a starting gateway waits before it listens. Most starts complete earlier. Proxies without health checks, such as nginx, treat an
 * open port as a serving gateway, so they rarely see a starting one.
 */
const defaultDelayMs = 1_000;

interface StartingListenerOptions {
  readonly listener: Server;
  readonly address: ListenAddress | InheritedSockets;
  readonly onError: (error: Error) => void;
  readonly delayMs?: number; // Infinity if other processes accept from the same sockets
}

/**
 * Listens while the gateway starts, which may take hours if it migrates a large database. `/livez` returns 200, so that a supervisor does
 * not end the process. `/readyz` and all other paths return 503.
 */
export class StartingListener implements AsyncDisposable {
  readonly #options: StartingListenerOptions;
  readonly #failure = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #openGate: () => void;
  #listening: Promise<() => void> | undefined;

  constructor(options: StartingListenerOptions) {
    this.#options = options;
    this.#openGate = refuseWhileStarting(options.listener);
    const { delayMs: delay = defaultDelayMs } = options;
    if (delay !== Infinity) this.#timer = setTimeout(() => this.#listenEarly(), delay);
  }

  /** Aborted, with the error, if the port cannot be opened. */
  get failureSignal(): AbortSignal {
    return this.#failure.signal;
  }

  /**
   * Listens if the port is not open yet, and passes requests to the gateway.
   *
   * @returns a function that stops accepting, see `listenOnSockets`
   * @throws StartRefused if the port is in use or not permitted
   */
  async serve(): Promise<() => void> {
    clearTimeout(this.#timer);
    if (this.#listening === undefined) this.#openGate();
    const stopAccepting = await this.#listen();
    this.#openGate();
    return stopAccepting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#listening?.catch(() => undefined);
    const { listener } = this.#options;
    listener.close();
    listener.closeAllConnections();
  }

  #listenEarly(): void {
    this.#listen().catch((error: unknown) => this.#failure.abort(error));
  }

  #listen(): Promise<() => void> {
    const { listener, address, onError } = this.#options;
    return (this.#listening ??= listenOnSockets(listener, address, onError).catch((error: unknown) => {
      throw 'port' in address ? createListenRefusal(`${address.host}:${address.port}`, 'listen.port', error) : error;
    }));
  }
}

function refuseWhileStarting(listener: Server): () => void {
  const handlers = listener.listeners('request') as RequestListener[];
  listener.removeAllListeners('request');
  listener.on('request', respondWhileStarting);
  return () => {
    const current = listener.listeners('request') as RequestListener[];
    if (!current.includes(respondWhileStarting)) return;
    const laterHandlers = current.filter((handle) => handle !== respondWhileStarting);
    listener.removeAllListeners('request');
    for (const handle of [...handlers, ...laterHandlers]) listener.on('request', handle);
  };
}

function respondWhileStarting(request: IncomingMessage, response: ServerResponse): void {
  const path = stripQuery(request.url);
  if (path === '/livez') return sendJson(response, 200, { status: 'ok' });
  if (path === '/readyz') return sendJson(response, 503, { status: 'starting' });
  const error = new GatewayError('unavailable', 'The gateway is starting. Try again in a few seconds.', {
    retryAfter: 2,
  });
  const dialect = detectDialect(undefined, request.headers, path);
  const { status, headers, body } = renderError(error, {
    id: createRequestId(Date.now()),
    format: undefined,
    dialect,
  });
  // The connection closes, because the body is not read.
  response.writeHead(status, { ...headers, 'cache-control': 'no-store', connection: 'close' }).end(body as string);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-cache',
    connection: 'close',
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
