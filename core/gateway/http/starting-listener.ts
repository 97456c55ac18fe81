import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { listenRefused } from '#core/platform/errors/start-refused.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { renderError } from '../pipeline/render-error.ts';
import { createRequestId } from '../records/request-id.ts';
import { type GivenSockets, type ListenPlace, listenWidely } from './accept.ts';
import { callerDialect } from './dialect.ts';

/**
 * Ms after which a starting gateway listens. Most starts are complete by then: a proxy without health checks, such as nginx, treats an open
 * port as a serving gateway.
 */
const defaultDelay = 1_000;

interface StartingListenerOptions {
  readonly listener: Server;
  readonly place: ListenPlace | GivenSockets;
  readonly onError: (error: Error) => void;
  /** Ms; Infinity if other processes already accept from the same sockets. */
  readonly delay?: number;
}

/**
 * Listener of a starting gateway, which may migrate a large database for hours. `/livez` returns 200, so that no supervisor ends the
 * process; `/readyz` and everything else return 503.
 */
export class StartingListener implements AsyncDisposable {
  readonly #options: StartingListenerOptions;
  readonly #failure = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #openGate: () => void;
  #listening: Promise<() => void> | undefined;

  constructor(options: StartingListenerOptions) {
    this.#options = options;
    this.#openGate = answerWhileStarting(options.listener);
    const { delay = defaultDelay } = options;
    if (delay !== Infinity) this.#timer = setTimeout(() => this.#listenEarly(), delay);
  }

  /** Aborted, with the error, if the port cannot be opened. */
  get failed(): AbortSignal {
    return this.#failure.signal;
  }

  /**
   * Starts serving.
   *
   * @returns a function that stops accepting, see `listenWidely`
   * @throws StartRefused if the port is in use or not permitted
   */
  async serve(): Promise<() => void> {
    clearTimeout(this.#timer);
    if (this.#listening === undefined) this.#openGate();
    const stopAccepting = await this.#listen();
    this.#openGate();
    return stopAccepting;
  }

  /** Call after a failed start. */
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
    const { listener, place, onError } = this.#options;
    return (this.#listening ??= listenWidely(listener, place, onError).catch((error: unknown) => {
      throw 'port' in place ? listenRefused(`${place.host}:${place.port}`, 'listen.port', error) : error;
    }));
  }
}

/** @returns a function that restores the previous listeners; may be called repeatedly */
function answerWhileStarting(listener: Server): () => void {
  const handlers = listener.listeners('request') as RequestListener[];
  listener.removeAllListeners('request');
  listener.on('request', answer);
  return () => {
    if (!listener.listeners('request').includes(answer)) return;
    const later = listener.listeners('request').filter((handle) => handle !== answer) as RequestListener[];
    listener.removeAllListeners('request');
    for (const handle of [...handlers, ...later]) listener.on('request', handle);
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  if (path === '/livez') return send(response, 200, { status: 'ok' });
  if (path === '/readyz') return send(response, 503, { status: 'starting' });
  const error = new GatewayError('unavailable', 'The gateway is starting. Try again in a few seconds.', {
    retryAfter: 2,
  });
  const dialect = callerDialect(undefined, request.headers, path);
  const { status, headers, body } = renderError(error, {
    id: createRequestId(Date.now()),
    format: undefined,
    dialect,
  });
  // The connection closes, because the body is not read.
  response.writeHead(status, { ...headers, 'cache-control': 'no-store', connection: 'close' }).end(body as string);
}

function send(response: ServerResponse, status: number, body: object): void {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-cache',
    connection: 'close',
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}
