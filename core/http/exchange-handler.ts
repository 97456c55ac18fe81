import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import { bounds } from '../bounds.ts';
import { createRequestId } from '../records/request-id.ts';
import { ClientGone, GatewayError, toGatewayError } from '../errors/table.ts';
import type { Host } from '../host.ts';
import type { Logger } from '../logger.ts';
import { LinkedList } from '../pipeline/linked-list.ts';
import { type Endpoint, Exchange } from '../pipeline/exchange.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { discard } from '../pipeline/reply.ts';
import { StageFault } from '../pipeline/stage-fault.ts';
import type { Outcome } from '../pipeline/stage.ts';
import { firstOrLate } from '../timing/deadline.ts';
import type { ClientAddress } from './client-address.ts';
import { callerDialect } from './dialect.ts';
import { inviteBody } from './listener.ts';
import type { EndpointTable, Match, WrongMethod } from './paths.ts';
import { type BodyLimits, RequestBody } from './request-body.ts';
import { type SendProgress, sendReply } from './send.ts';

/** What serves new exchanges at the moment; a reload replaces it as a whole. */
export interface Serving {
  readonly host: Host;
  readonly pipeline: Pipeline;
  readonly bodyLimits: BodyLimits;
  readonly writeTimeout: number; // seconds without a byte taken by the client
  readonly clientAddress: ClientAddress;
}

/** Ms for which the rest of a refused body is read and thrown away, so that its sender sees the answer. */
const discardTime = 5_000;

/** Ms for which stages may go on after their exchange is over. */
const settleTime = 10_000;

/** Runs the pipeline for the requests that hapi routes here, and keeps account of those under way. */
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

  /** New exchanges use this from now on. Returns what served before. */
  serve(next: Serving): Serving | undefined {
    const previous = this.#serving;
    this.#serving = next;
    return previous;
  }

  get running(): number {
    return this.#running.size;
  }

  /** From now on every answer closes its connection, so that clients go elsewhere. */
  close(): void {
    this.#isClosing = true;
  }

  /** From now on new exchanges are refused. */
  refuseNew(): void {
    this.#refusesNew = true;
  }

  /** Ends every exchange under way with this error. */
  abortAll(error: GatewayError): void {
    for (const exchange of this.#running.items()) exchange.abort(error);
  }

  readonly handle: Lifecycle.Method = (request: Request, h: ResponseToolkit) => {
    void this.#run(request);
    return h.abandon;
  };

  async #run({ raw: { req, res }, path, info }: Request): Promise<void> {
    const { pipeline, host, bodyLimits, writeTimeout, clientAddress } = this.serving;
    const method = req.method ?? 'GET';
    const match = this.#match(method, path, req);
    const receivedAt = host.now();
    const exchange = new Exchange({
      id: createRequestId(receivedAt),
      endpoint: match.endpoint,
      params: match.params,
      dialect: callerDialect(match.endpoint, req.headers),
      method,
      path,
      query: queryOf(req.url),
      headers: req.headers,
      remoteAddress: clientAddress(info.remoteAddress, req.headers),
      receivedAt,
      body: new RequestBody(req, bodyLimits, () => inviteBody(req)),
    });
    const closed = this.#untilClosed(exchange, res);
    pipeline.begin(exchange);
    let sent: SendProgress | undefined;
    const answered = this.#answer(pipeline, exchange, res, host, writeTimeout).then((result) => {
      sent = result;
      if (!req.complete) discardRest(req);
    });
    const duration = await closed;
    // The stages have been told by the signal; what they find out belongs on the record.
    if (sent === undefined) await firstOrLate([answered], settleTime);
    await pipeline.finish(exchange, outcomeOf(exchange, res, sent, duration));
  }

  /** Resolves with the ms that the exchange took, when its answer is with the client or can reach it no more. */
  #untilClosed(exchange: Exchange, response: ServerResponse): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    const link = this.#running.add(exchange);
    const onClose = () => {
      // Where the gateway broke off, the client did not.
      if (!response.writableFinished) exchange.abort(exchange.failure ?? new ClientGone());
      this.#running.remove(link);
      resolve(exchange.elapsed);
    };
    // The connection may be gone before anything could listen.
    if (response.closed) onClose();
    else response.once('close', onClose);
    return promise;
  }

  /** Runs the pipeline and begins to send what comes of it. Undefined when there is nobody to send it to. Never rejects. */
  async #answer(
    pipeline: Pipeline,
    exchange: Exchange,
    response: ServerResponse,
    host: Host,
    writeTimeout: number,
  ): Promise<SendProgress | undefined> {
    const reply = await pipeline.answer(exchange);
    if (response.destroyed) {
      discard(reply);
      return undefined;
    }
    try {
      const headers: Record<string, string> = this.#isClosing ? { connection: 'close' } : {};
      return sendReply(response, exchange, reply, {
        headers,
        writeTimeout,
        bodyTimeout: pipeline.bodyTimeout,
        onStalled: (seconds) => reportStalled(exchange, seconds, host.log),
      });
    } catch (error) {
      // A stage's or an upstream's header that HTTP does not allow, say. Nobody else hears of it.
      host.log.error(`the answer to ${exchange.id} could not be sent`, error);
      exchange.fail(toGatewayError(error));
      response.destroy();
      return undefined;
    }
  }

  #match(method: string, path: string, req: IncomingMessage): Match {
    if (this.#refusesNew)
      return refuseWith(new GatewayError('shutting_down', 'the gateway is stopping; try again', { retryAfter: 1 }));
    const match = this.#endpoints.find(method === 'HEAD' ? 'GET' : method, path);
    if (match !== undefined && 'endpoint' in match) return match;
    return refuseWith(explainMismatch(method, path, match, req));
  }
}

/** What hapi offers is a URL object, which costs more than all the rest that it does for a request. */
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
    return new GatewayError('upgrade_required', 'websockets are not served here; send a POST request', { headers });
  }
  if (match === undefined)
    return new GatewayError('not_found', `there is nothing at ${path}; GET /v1/models lists what can be called`);
  const allow = match.allowed.join(', ');
  return new GatewayError('method_not_allowed', `${method} is not possible here; use ${allow}`, { headers: { allow } });
}

/** Names the stage whose body does not continue. */
function reportStalled(exchange: Exchange, seconds: number, log: Logger): GatewayError {
  const fault = new StageFault(
    { owner: exchange.bodyOwner ?? 'the pipeline', moment: 'body' },
    `has sent no chunk for ${seconds} s`,
  );
  log.error(`request ${exchange.id} failed inside the gateway`, fault);
  return toGatewayError(fault);
}

/** An endpoint for what cannot be served: it too passes through the pipeline, so that it is recorded. */
function refuseWith(error: GatewayError): Match {
  const endpoint: Endpoint = {
    name: 'unknown',
    method: 'GET',
    path: '/v1/',
    isMetered: false,
    // Clients that try a WebSocket first read any other status as a fault, and may send the key only later.
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
  return status !== undefined && status >= 400 && status < 500 ? 'refused' : 'failed';
}

/**
 * Reads on for a while after an answer that came before the whole body: a connection closed on unread bytes is reset,
 * and the reset can overtake the answer.
 */
function discardRest(request: IncomingMessage): void {
  let bytes = 0;
  const stop = () => request.socket.destroy();
  const timer = setTimeout(stop, discardTime);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bounds.discardedBody) stop();
  });
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
