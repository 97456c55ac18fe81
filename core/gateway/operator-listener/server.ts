import type { OutgoingHttpHeaders, Server as HttpServer } from 'node:http';
import type { Lifecycle, Request, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi';
import { operatorSection } from '#core/config/sections/operator-section.ts';
import { noteFailure } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Host } from '../host/host.ts';
import { applyTimeouts } from '../http/listener.ts';
import { createServer, stopServer } from '../http/server.ts';
import { createRequestId } from '../records/request-id.ts';
import { type OperatorRequest, checkAccess } from './access.ts';
import { formatOperatorAddress, type OperatorAddress } from './address.ts';
import { isDiskResponsive, openListener } from './socket.ts';

const timeouts = { headerTimeout: 10, keepAliveTimeout: 75 }; // seconds
const forwardedHeaders = new Set(['content-type', 'cache-control', 'x-content-type-options', 'www-authenticate']);

/** A GET request that reached another process of this gateway. */
export interface ForwardedRequest extends OperatorRequest {
  readonly url: string;
}

export interface ForwardedResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/**
 * The operator listener. It serves metrics, the state of routes, and other data for the operator, but only to GET requests that pass
 * `checkAccess`. The public listener serves none of these paths.
 */
export class OperatorServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #listener: HttpServer;
  readonly #address: OperatorAddress;
  readonly #log: Logger;

  /** @param host returns the host of the running configuration, with its token and names */
  constructor(address: OperatorAddress, routes: Iterable<ServerRoute>, host: () => Host, log: Logger) {
    const { server, listener } = createServer(log);
    applyTimeouts(listener, timeouts);
    listener.maxConnections = bounds.operatorConnections;
    server.ext('onRequest', (request, h) => authorize(request, h, host()));
    server.ext('onPreResponse', addSecurityHeaders);
    for (const route of routes) server.route(route);
    this.#server = server;
    this.#listener = listener;
    this.#address = address;
    this.#log = log;
  }

  /** `http://127.0.0.1:9080` or `unix:PATH`, with the port that was actually opened. */
  get url(): string {
    const bound = this.#listener.address();
    if ('path' in this.#address || bound === null || typeof bound === 'string')
      return formatOperatorAddress(this.#address);
    return formatOperatorAddress({ host: this.#address.host, port: bound.port });
  }

  /** @throws Error with the address and the remedy */
  async listen(): Promise<void> {
    await this.#server.start();
    await openListener(this.#listener, this.#address);
    this.#listener.on('error', (error) => noteFailure(this.#log, 'accepting an operator connection', error));
  }

  /** Responds to a request that another process received, with the same access rules. */
  async respond({ url, headers, localAddress }: ForwardedRequest): Promise<ForwardedResponse> {
    const request = { url, headers: headers as Record<string, string>, app: { localAddress } };
    const { statusCode: status, headers: responseHeaders, payload: body } = await this.#server.inject(request);
    const forwardedEntries = Object.entries(responseHeaders).filter(([name]) => forwardedHeaders.has(name));
    return { status, headers: Object.fromEntries(forwardedEntries), body };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (await isDiskResponsive(this.#address)) await stopServer(this.#server, 1_000);
    else this.#listener.closeAllConnections();
  }
}

function authorize({ raw, info, app }: Request, h: ResponseToolkit, host: Host): Lifecycle.ReturnValue {
  // hapi's ids contain the host name and the process id.
  info.id = createRequestId(Date.now());
  const access = host.section(operatorSection);
  const { localAddress } = 'localAddress' in app ? (app as ForwardedRequest) : raw.req.socket;
  const refusal = checkAccess({ headers: raw.req.headers, localAddress }, access);
  if (refusal === undefined) return h.continue;
  const response = h.response(`${refusal.message}\n`).type('text/plain').code(refusal.status);
  if (refusal.status === 401) response.header('www-authenticate', 'Bearer');
  return response.takeover();
}

function addSecurityHeaders({ response }: Request, h: ResponseToolkit): symbol {
  const headers = response instanceof Error ? response.output.headers : response.headers;
  headers['cache-control'] = 'no-store';
  headers['x-content-type-options'] = 'nosniff';
  return h.continue;
}
