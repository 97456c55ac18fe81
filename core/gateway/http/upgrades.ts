import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { noteFailure } from '#core/platform/background.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { supportsUpgradeFilter } from '#core/platform/node-release.ts';
import type { Host } from '../host/host.ts';
import { isSurplus } from './connection-limit.ts';
import type { ExchangeHandler } from './exchange-handler.ts';
import { countHosts } from './parser-refusals.ts';
import { type EndpointTable, stripQuery } from './paths.ts';
import { closeGracefully, runningResponse } from './pipelining.ts';
import type { MessageRunner } from './run-message.ts';

const { ServerResponse: NodeResponse } = process.getBuiltinModule('node:http'); // as in listener.ts

/** A request for a WebSocket on a path that supports it. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer; // bytes that the client sent after the request
  readonly path: string; // as received, without the query string
  readonly messageRunner: MessageRunner;
  /** Refuses over HTTP. The request passes through the pipeline, so it is recorded, and authentication errors take precedence. */
  refuse(error: GatewayError): void;
}

/** An endpoint that is also served over WebSockets. */
export interface SocketEndpoint {
  readonly endpoint: string; // name of the endpoint at whose path WebSockets are accepted
  isServed(host: Host): boolean; // false if the configuration disables it
  /** Completes the handshake, and serves the socket. */
  open(upgrade: Upgrade): Promise<void>;
  /** Closes the sockets as soon as nothing runs on them, because the gateway is stopping. */
  drain(): void;
}

/** Opens WebSockets. Other upgrade requests are served as plain HTTP requests, which RFC 9110 §7.8 allows. */
export class Upgrades {
  readonly #log: Logger;
  #serving: { readonly handler: ExchangeHandler; readonly endpoints: EndpointTable } | undefined;
  #sockets: readonly SocketEndpoint[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Decides which requests become WebSockets. This is the listener's `shouldUpgradeCallback`, so it must not throw. */
  readonly accepts = (request: IncomingMessage): boolean => this.#find(request) !== undefined;

  attach(server: Server): void {
    // A Node.js without `shouldUpgradeCallback` would pass every upgrade request to the listener.
    if (!supportsUpgradeFilter()) return;
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#open(request, socket, head).catch((error: unknown) => {
        noteFailure(this.#log, 'opening a WebSocket', error);
        socket.destroy();
      });
    });
  }

  serve(handler: ExchangeHandler, endpoints: EndpointTable, sockets: readonly SocketEndpoint[]): void {
    this.#serving = { handler, endpoints };
    this.#sockets = sockets;
    handler.onDrain(() => {
      for (const socket of sockets) socket.drain();
    });
  }

  #find(request: IncomingMessage): SocketEndpoint | undefined {
    if (this.#serving === undefined || !isWebSocketRequest(request)) return undefined;
    const { handler, endpoints } = this.#serving;
    const match = endpoints.findEndpoint('POST', stripQuery(request.url));
    if (match === undefined || !('endpoint' in match)) return undefined;
    const { name } = match.endpoint;
    return this.#sockets.find(({ endpoint, isServed }) => endpoint === name && isServed(handler.serving.host));
  }

  async #open(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const endpoint = this.#find(request);
    const { handler } = this.#serving ?? {};
    if (endpoint === undefined || handler === undefined) {
      socket.destroy();
      return;
    }
    // Node removed its own error listener.
    socket.on('error', ignoreError);
    const path = stripQuery(request.url);
    const refuse = (error: GatewayError) => {
      handler.run(request, createResponse(request, socket), path, error);
    };
    const refusal = handler.checkAdmission();
    if (refusal !== undefined) refuse(refusal);
    else await endpoint.open({ request, socket, head, path, messageRunner: handler, refuse });
  }
}

function ignoreError(): void {}

function isWebSocketRequest({ method, headers, socket, rawHeaders }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0) return false;
  // Requests that the listener refuses, and requests queued behind another one, stay HTTP requests.
  return countHosts(rawHeaders) === 1 && !isSurplus(socket) && runningResponse(socket) === undefined;
}

function createResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new NodeResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => closeGracefully(socket));
  socket.resume();
  return response;
}
