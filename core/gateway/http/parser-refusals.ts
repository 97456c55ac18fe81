import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '#core/platform/bounds.ts';
import { renderError } from '../pipeline/render-error.ts';
import { type ErrorCode, GatewayError } from '#core/platform/errors/table.ts';
import type { Gauge } from '../health/gauge.ts';
import type { Logger } from '#core/platform/logger.ts';
import { plainAddress } from '#core/platform/names/loopback.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { closeAfterRunning, closeGently, runningResponse, serveInTurn } from './pipelining.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http'); // as in listener.ts

type Reason =
  | 'malformed'
  | 'timeout'
  | 'headers_too_large'
  | 'chunk_extensions_too_large'
  | 'expectation'
  | 'pipelined'
  | 'connections';

interface Refusal {
  readonly reason: Reason;
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfter?: number; // seconds
}

const malformed: Refusal = {
  reason: 'malformed',
  status: 400,
  code: 'invalid_request',
  message: 'The request is not valid HTTP/1.1.',
};

/** RFC 9112 §3.2. */
const withoutHost: Refusal = { ...malformed, message: 'An HTTP/1.1 request needs a Host header.' };
const severalHosts: Refusal = { ...malformed, message: 'A request has one Host header, not several.' };

/** RFC 9112 §6.1. Node's parser decodes the chunks of any list that ends with `chunked`. */
const unknownCoding: Refusal = {
  reason: 'malformed',
  status: 501,
  code: 'invalid_request',
  message: 'The only Transfer-Encoding that is supported is chunked. Send compressed bodies with Content-Encoding.',
};

/** RFC 9110 §10.1.1. */
const unknownExpectation: Refusal = {
  reason: 'expectation',
  status: 417,
  code: 'invalid_request',
  message: 'The only Expect header that is supported is 100-continue.',
};

const tooMany: Refusal = {
  reason: 'connections',
  status: 503,
  code: 'unavailable',
  message: 'The gateway has too many open connections. Try again later.',
  retryAfter: 2,
};

const refusals: Readonly<Record<string, Refusal>> = {
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
    message: `The headers are larger than ${bounds.requestHead} bytes, or too many.`,
  },
};

const logIntervalMs = 60_000;

/**
 * Answers requests that Node rejects before there is an exchange: no stage sees them, and no record is written. They are counted by reason,
 * and the log gets a line for the latest at most once a minute.
 */
export class ParserRefusals {
  readonly #log: Logger;
  readonly #throttle = new Throttle(logIntervalMs);
  readonly #counts = new Map<Reason, number>();
  #sinceLastLine = 0;

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
      const hosts = countHosts(request.rawHeaders);
      if (hosts === 0 && request.httpVersion === '1.1')
        return this.#answer(withoutHost, 'no Host header', request, response);
      if (hosts > 1) return this.#answer(severalHosts, 'several Host headers', request, response);
      const coding = request.headers['transfer-encoding'];
      if (coding !== undefined && coding.toLowerCase() !== 'chunked')
        return this.#answer(unknownCoding, 'unknown Transfer-Encoding', request, response);
      for (const handle of handlers) handle.call(server, request, response);
    });
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.#answer(unknownExpectation, 'unknown Expect header', request, response),
    );
    server.on('clientError', (error, socket) => this.#refuse(error, socket as Socket));
    serveInTurn(server, ({ remoteAddress }) =>
      this.#count(
        'pipelined',
        `${plainAddress(remoteAddress ?? 'unknown')} dropped: more than ${bounds.pipelinedRequests} waited on a connection`,
      ),
    );
  }

  /** Answers a request on a connection over the limit. */
  refuseSurplus(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    socket.destroySoon = () => closeGently(socket);
    this.#answer(tooMany, 'too many connections', request, response);
  }

  /** Rejects a connection without reading from it. */
  refuseConnection(socket: Socket): void {
    this.#countRefusal(tooMany, 'too many connections', socket.remoteAddress);
    socket.end(write(tooMany), () => socket.destroy());
  }

  #refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    // The client disconnected.
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // Already rejected: the client keeps sending.
    if (!socket.writable) return;
    const refusal = refusals[error.code ?? ''] ?? malformed;
    this.#countRefusal(refusal, error.code, socket.remoteAddress);
    const running = runningResponse(socket);
    // The malformed request is not the running one, but one behind it.
    if (running?.req.complete === true) closeAfterRunning(socket);
    else if (running?.headersSent === true) socket.destroy();
    else closeGently(socket, write(refusal));
  }

  #answer(refusal: Refusal, what: string, request: IncomingMessage, response: ServerResponse): void {
    this.#countRefusal(refusal, what, request.socket.remoteAddress);
    const { headers, text } = render(refusal);
    response.writeHead(refusal.status, headers).end(text);
    request.resume();
  }

  #countRefusal({ reason, status }: Refusal, code = 'unknown', address = 'unknown'): void {
    this.#count(reason, `${plainAddress(address)} refused with ${status} before it could be read: ${code}`);
  }

  #count(reason: Reason, what: string): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    this.#sinceLastLine++;
    if (!this.#throttle.pass()) return;
    const total = this.#sinceLastLine > 1 ? `; ${this.#sinceLastLine} since the last such line` : '';
    this.#log.warn(`request from ${what}${total}`);
    this.#sinceLastLine = 0;
  }
}

/** @param raw alternating names and values as received; `headers` keeps only the first of several */
function countHosts(raw: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

/** Uses the shape of OpenAI's errors, because the client's format is unknown. */
function render({ code, message, retryAfter }: Refusal): { headers: Record<string, string | number>; text: string } {
  const { headers, body } = renderError(
    new GatewayError(code, message, retryAfter === undefined ? {} : { retryAfter }),
    {
      id: '',
      format: undefined,
      dialect: 'openai',
    },
  );
  const text = String(body);
  const length = { 'content-length': Buffer.byteLength(text) };
  return { text, headers: { ...headers, 'cache-control': 'no-store', ...length, connection: 'close' } };
}

function write(refusal: Refusal): string {
  const { headers, text } = render(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${text}`;
}
