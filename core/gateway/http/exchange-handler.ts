import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import { noteFailure } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import { createRequestId } from '../records/request-id.ts';
import { renderError } from '../pipeline/render-error.ts';
import { ClientGone, type Dialect, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Host } from '../host/host.ts';
import { LinkedList } from '../pipeline/linked-list.ts';
import { type Endpoint, Exchange } from '../pipeline/exchange.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { discard, type Reply } from '../pipeline/reply.ts';
import { StageFault } from '../pipeline/stage-fault.ts';
import type { Outcome } from '../pipeline/stage.ts';
import { firstOrTimeout } from '#core/platform/timing/deadline.ts';
import type { ReadClientConnection } from './client-connection.ts';
import { callerDialect } from './dialect.ts';
import { sendContinue } from './listener.ts';
import type { EndpointTable, Match, WrongMethod } from './paths.ts';
import { type BodyLimits, RequestBody } from './request-body.ts';
import { type SendProgress, sendReply } from './send.ts';

/** What new exchanges run on; a reload replaces it as a whole. */
export interface Serving {
  readonly host: Host;
  readonly pipeline: Pipeline;
  readonly bodyLimits: BodyLimits;
  readonly writeTimeout: number; // seconds without a byte taken by the client
  readonly readConnection: ReadClientConnection;
}

/** Ms for which the remainder of a rejected body is read and discarded, so that the client reads the response. */
const discardTime = 5_000;

/** Ms for which stages may keep running after their exchange is over. */
const settleTime = 10_000;

/** Runs the pipeline for the requests that hapi routes here, and tracks those in flight. */
export class ExchangeHandler {
  readonly #endpoints: EndpointTable;
  readonly #running = new LinkedList<Exchange>();
  #serving: Serving | undefined;
  #isClosing = false;
  #refusesNew = false;

  constructor(endpoints: EndpointTable) {
    this.#endpoints = endpoints;
  }

  get serving(): Serving {
    if (this.#serving === undefined) throw new Error('the gateway has not started yet');
    return this.#serving;
  }

  /** New exchanges use this from now on. Returns the previous one. */
  serve(next: Serving): Serving | undefined {
    const previous = this.#serving;
    this.#serving = next;
    return previous;
  }

  get running(): number {
    return this.#running.size;
  }

  /** From now on every answer closes its connection, so that clients reconnect elsewhere. */
  close(): void {
    this.#isClosing = true;
  }

  /** From now on new exchanges are refused. */
  refuseNew(): void {
    this.#refusesNew = true;
  }

  /** Ends every exchange in flight with this error. */
  abortAll(error: GatewayError): void {
    for (const exchange of this.#running.items()) exchange.abort(error);
  }

  readonly handle: Lifecycle.Method = (request: Request, h: ResponseToolkit) => {
    const { serving } = this;
    // hapi logs and answers what this throws.
    const exchange = this.#open(request, serving);
    const { req, res } = request.raw;
    this.#run(exchange, req, res, serving).catch((error: unknown) => this.#contain(exchange, res, serving.host, error));
    return h.abandon;
  };

  #open({ raw: { req }, path, info }: Request, { host, bodyLimits, readConnection }: Serving): Exchange {
    const method = req.method ?? 'GET';
    const match = this.#match(method, path, req);
    const receivedAt = host.now();
    const peer: string | undefined = info.remoteAddress;
    const remoteAddress = peer === undefined ? undefined : readConnection(peer, req.headers).address;
    const memory = host.memory.share(remoteAddress ?? '');
    return new Exchange({
      id: createRequestId(receivedAt),
      endpoint: match.endpoint,
      params: match.params,
      dialect: callerDialect(match.endpoint, req.headers, path),
      method,
      path,
      query: queryOf(req.url),
      headers: req.headers,
      remoteAddress,
      receivedAt,
      memory,
      body: new RequestBody(req, bodyLimits, memory, () => sendContinue(req)),
    });
  }

  async #run(exchange: Exchange, req: IncomingMessage, res: ServerResponse, serving: Serving): Promise<void> {
    try {
      const { pipeline } = serving;
      const closed = this.#untilClosed(exchange, req, res);
      pipeline.begin(exchange);
      let sent: SendProgress | undefined;
      // For a client that has left already there is only the record.
      const answered = exchange.isClientGone
        ? undefined
        : this.#answer(exchange, res, serving).then((result) => {
            sent = result;
            if (!req.complete) discardBody(req);
          });
      const duration = await closed;
      // The signal has reached the stages; what they report belongs in the record.
      if (sent === undefined && answered !== undefined) await firstOrTimeout([answered], settleTime);
      await pipeline.finish(exchange, outcomeOf(exchange, res, sent, duration));
    } finally {
      exchange.memory.release();
    }
  }

  /** Resolves with the duration in ms when the answer has been delivered, or can no longer be. */
  #untilClosed(exchange: Exchange, request: IncomingMessage, response: ServerResponse): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    const link = this.#running.add(exchange);
    const onClose = () => {
      // A failure of the gateway is not a client that left.
      if (!response.writableFinished) exchange.abort(exchange.failure ?? new ClientGone());
      this.#running.remove(link);
      resolve(exchange.elapsed);
    };
    if (hasLeft(request, response)) onClose();
    else response.once('close', onClose);
    return promise;
  }

  /** Runs the pipeline and starts to send the reply. Undefined when the client has left or nothing could be sent. Never rejects. */
  async #answer(
    exchange: Exchange,
    response: ServerResponse,
    { pipeline, host, writeTimeout }: Serving,
  ): Promise<SendProgress | undefined> {
    let reply: Reply | undefined;
    try {
      reply = await pipeline.answer(exchange);
      if (response.destroyed) {
        discard(reply);
        return undefined;
      }
      const headers: Record<string, string> = this.#isClosing ? { connection: 'close' } : {};
      return sendReply(response, exchange, reply, {
        headers,
        writeTimeout,
        bodyTimeout: pipeline.bodyTimeout,
        log: host.log,
        onStalled: (seconds) => reportStalled(exchange, seconds, pipeline),
      });
    } catch (error) {
      // A header that HTTP does not allow, for example. This is the only place that sees it.
      if (reply !== undefined) discard(reply);
      this.#contain(exchange, response, host, error);
      return undefined;
    }
  }

  /** Ends only the exchange that has failed: with an answer if none has begun. */
  #contain(exchange: Exchange, response: ServerResponse, { log }: Host, thrown: unknown): void {
    noteFailure(log, 'sending a response', thrown, exchange.id);
    const error = toGatewayError(thrown);
    exchange.fail(error);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    try {
      const { status, headers, body } = renderError(error, exchange);
      response.writeHead(status, { ...headers, 'x-request-id': exchange.id, connection: 'close' }).end(body);
    } catch {
      // The format that renders errors has failed as well.
      response.destroy();
    }
  }

  #match(method: string, path: string, req: IncomingMessage): Match {
    const match = this.#endpoints.find(method === 'HEAD' ? 'GET' : method, path);
    const refusal = this.#refusal();
    if (match !== undefined && 'endpoint' in match)
      return refusal === undefined ? match : refuseWith(refusal, callerDialect(match.endpoint, req.headers, path));
    return refuseWith(refusal ?? explainMismatch(method, path, match, req));
  }

  /** Why no request is accepted now. */
  #refusal(): GatewayError | undefined {
    if (this.#refusesNew)
      return new GatewayError('shutting_down', 'The gateway is stopping. Try again.', { retryAfter: 1 });
    const { memory } = this.serving.host;
    if (!memory.isExhausted) return undefined;
    memory.refuse('request');
    return new GatewayError('unavailable', 'The gateway is out of memory. Try again.', { retryAfter: 2 });
  }
}

/** True for a connection that has closed, or was reset before it could be accepted: then the system knows no peer. */
export function hasLeft({ socket }: IncomingMessage, response: ServerResponse): boolean {
  return response.closed || socket.destroyed || socket.writableEnded || socket.remoteAddress === undefined;
}

/** Parsed here because hapi's URL object costs more than the rest of its work for a request. */
function queryOf(url: string | undefined): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/.exec(url ?? '')?.[1]);
}

function explainMismatch(
  method: string,
  path: string,
  match: WrongMethod | undefined,
  req: IncomingMessage,
): GatewayError {
  if (req.headers.upgrade?.toLowerCase() === 'websocket') {
    // Codex tries a WebSocket first and falls back to HTTP at once on this status, after seconds on any other.
    const headers = { upgrade: 'HTTP/1.1', connection: 'upgrade' };
    return new GatewayError('upgrade_required', 'WebSockets are not supported. Send a POST request.', { headers });
  }
  if (match === undefined)
    return new GatewayError('not_found', `Path "${path}" not found. GET /v1/models lists the models.`);
  const allow = match.allowed.join(', ');
  return new GatewayError('method_not_allowed', `${method} is not allowed here. Use ${allow}.`, { headers: { allow } });
}

/** Names the stage whose body has stalled. */
function reportStalled(exchange: Exchange, seconds: number, pipeline: Pipeline): GatewayError {
  const { bodyOwner: owner = 'the pipeline' } = exchange;
  const fault = new StageFault({ owner, moment: 'body' }, `has sent no chunk for ${seconds} s`);
  pipeline.reportFailure(exchange, owner, fault);
  return toGatewayError(fault);
}

/** An endpoint for a request that has none: it passes through the pipeline too, so that it is recorded. */
function refuseWith(error: GatewayError, dialect?: Dialect): Match {
  const endpoint: Endpoint = {
    name: 'unknown',
    dialect,
    method: 'GET',
    path: '/v1/',
    isMetered: false,
    // Clients that try a WebSocket first take any other status for a fault, and may send the key only later.
    isPublic: error.code === 'upgrade_required',
    answer: () => {
      throw error;
    },
  };
  return { endpoint, params: {} };
}

function outcomeOf(
  exchange: Exchange,
  response: ServerResponse,
  sent: SendProgress | undefined,
  duration: number,
): Outcome {
  const error = exchange.failure;
  const status = response.headersSent ? response.statusCode : undefined;
  return {
    kind: outcomeKind(exchange, status),
    status,
    error,
    bytesSent: sent?.bytes ?? 0,
    duration,
    firstByteAfter: sent?.firstByteAfter,
  };
}

function outcomeKind(exchange: Exchange, status: number | undefined): Outcome['kind'] {
  if (exchange.isClientGone) return 'aborted';
  if (exchange.failure === undefined) return 'answered';
  return exchange.failure.isFailure(status) ? 'failed' : 'refused';
}

/**
 * Keeps reading for a while after an answer that was sent before the whole body: closing a connection with unread bytes
 * resets it, and the reset can overtake the answer.
 */
function discardBody(request: IncomingMessage): void {
  let bytes = 0;
  const stop = () => request.socket.destroy();
  const timer = setTimeout(stop, discardTime);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bounds.refusedBody) stop();
  });
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
