import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '#core/platform/bounds.ts';
import { type ErrorCode, GatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { unmapAddress } from '#core/platform/names/loopback.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import type { Gauge } from '../health/gauge.ts';
import { renderError } from '../pipeline/render-error.ts';
import { closeAfterRunning, closeGracefully, runningResponse, serveInTurn } from './pipelining.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http'); // as in listener.ts

type RefusalReason =
  | 'malformed'
  | 'timeout'
  | 'headers_too_large'
  | 'chunk_extensions_too_large'
  | 'expectation'
  | 'pipelined'
  | 'connections';

interface Refusal {
  readonly reason: RefusalReason;
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfter?: number; // seconds
}

const malformedRequest: Refusal = {
  reason: 'malformed',
  status: 400,
  code: 'invalid_request',
  message: 'The request is not valid HTTP/1.1.',
};

const missingHost: Refusal = { ...malformedRequest, message: 'An HTTP/1.1 request needs a Host header.' }; // RFC 9112 §3.2
const severalHosts: Refusal = { ...malformedRequest, message: 'A request must have exactly one Host header.' };

const unknownCoding: Refusal = {
  // RFC 9112 §6.1; Node's parser decodes the chunks of any list that ends with `chunked`
  reason: 'malformed',
  status: 501,
  code: 'invalid_request',
  message: 'The only supported Transfer-Encoding is chunked. Send compressed bodies with Content-Encoding.',
};

const unknownExpectation: Refusal = {
  // RFC 9110 §10.1.1
  reason: 'expectation',
  status: 417,
  code: 'invalid_request',
  message: 'The only supported Expect header is 100-continue.',
};

const tooManyConnections: Refusal = {
  reason: 'connections',
  status: 503,
  code: 'unavailable',
  message: 'The gateway has too many open connections. Try again later.',
  retryAfter: 2,
};

const refusalsByCode: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    reason: 'timeout',
    status: 408,
    code: 'request_timeout',
    message: 'The request did not arrive in time.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    reason: 'chunk_extensions_too_large',
    status: 413,
    code: 'request_too_large',
    message: 'The chunk extensions of the body are too large.',
  },
  HPE_HEADER_OVERFLOW: {
    reason: 'headers_too_large',
    status: 431,
    code: 'request_too_large',
    message: `The headers are larger than ${bounds.requestHead} bytes, or there are too many of them.`,
  },
};

const logIntervalMs = 60_000;

/**
 * Refuses requests that cannot become an exchange, such as those that Node cannot parse. No stage sees them, and they are not recorded. They
 * are counted by reason, and at most once a minute the latest one is logged.
 */
export class ParserRefusals {
  readonly #log: Logger;
  readonly #throttle = new Throttle(logIntervalMs);
  readonly #counts = new Map<RefusalReason, number>();
  #eventsSinceLastLine = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  get gauge(): Gauge {
    return {
      name: 'parser_refusals_total',
      description:
        'Requests that were not valid HTTP, or too many at once on a connection, by reason. They have no record.',
      labels: ['reason'],
      isCounter: true,
      read: () => [...this.#counts].map(([reason, value]) => ({ value, labels: { reason } })),
    };
  }

  /** Inserts itself before the server's existing request listeners. */
  attach(server: Server): void {
    const handlers = server.listeners('request') as RequestListener[];
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      const hostCount = countHosts(request.rawHeaders);
      if (hostCount === 0 && request.httpVersion === '1.1')
        return this.#refuseRequest(missingHost, 'no Host header', request, response);
      if (hostCount > 1) return this.#refuseRequest(severalHosts, 'several Host headers', request, response);
      const coding = request.headers['transfer-encoding'];
      if (coding !== undefined && coding.toLowerCase() !== 'chunked')
        return this.#refuseRequest(unknownCoding, 'unknown Transfer-Encoding', request, response);
      for (const handle of handlers) handle.call(server, request, response);
    });
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.#refuseRequest(unknownExpectation, 'unknown Expect header', request, response),
    );
    server.on('clientError', (error, socket) => this.#refuseMalformed(error, socket as Socket));
    serveInTurn(server, ({ remoteAddress }) =>
      this.#count(
        'pipelined',
        `${unmapAddress(remoteAddress ?? 'unknown')} dropped: more than ${bounds.pipelinedRequests} requests waited on a connection`,
      ),
    );
  }

  refuseSurplus(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    socket.destroySoon = () => closeGracefully(socket);
    this.#refuseRequest(tooManyConnections, 'too many connections', request, response);
  }

  refuseConnection(socket: Socket): void {
    this.#countRefusal(tooManyConnections, 'too many connections', socket.remoteAddress);
    socket.end(encodeResponse(tooManyConnections), () => socket.destroy());
  }

  #refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
    // The client disconnected.
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // The connection was already refused, and the client keeps sending.
    if (!socket.writable) return;
    const refusal = refusalsByCode[error.code ?? ''] ?? malformedRequest;
    this.#countRefusal(refusal, error.code, socket.remoteAddress);
    const response = runningResponse(socket);
    // If the running request is complete, the malformed one comes after it.
    if (response?.req.complete === true) closeAfterRunning(socket);
    else if (response?.headersSent === true) socket.destroy();
    else closeGracefully(socket, encodeResponse(refusal));
  }

  #refuseRequest(refusal: Refusal, detail: string, request: IncomingMessage, response: ServerResponse): void {
    this.#countRefusal(refusal, detail, request.socket.remoteAddress);
    const { headers, text } = renderRefusal(refusal);
    response.writeHead(refusal.status, headers).end(text);
    request.resume();
  }

  #countRefusal({ reason, status }: Refusal, detail = 'unknown', address = 'unknown'): void {
    this.#count(reason, `${unmapAddress(address)} refused with ${status} before it could be read: ${detail}`);
  }

  #count(reason: RefusalReason, event: string): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    this.#eventsSinceLastLine++;
    if (!this.#throttle.tryPass()) return;
    const total = this.#eventsSinceLastLine > 1 ? `; ${this.#eventsSinceLastLine} since the last such line` : '';
    this.#log.warn(`request from ${event}${total}`);
    this.#eventsSinceLastLine = 0;
  }
}

/**
 * Node's `headers` contains only the first Host header.
 *
 * @param rawHeaders alternating names and values as received
 */
export function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

function renderRefusal({ code, message, retryAfter }: Refusal): {
  headers: Record<string, string | number>;
  text: string;
} {
  const error = new GatewayError(code, message, retryAfter === undefined ? {} : { retryAfter });
  // As an OpenAI error, because the client's format is unknown.
  const { headers, body } = renderError(error, { id: '', format: undefined, dialect: 'openai' });
  const text = String(body);
  const length = { 'content-length': Buffer.byteLength(text) };
  return { text, headers: { ...headers, 'cache-control': 'no-store', ...length, connection: 'close' } };
}

function encodeResponse(refusal: Refusal): string {
  const { headers, text } = renderRefusal(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${text}`;
}
