import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import { noteFailure } from '#core/platform/background.ts';
import { renderError } from '../pipeline/render-error.ts';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Host } from '../host/host.ts';
import { type Link, LinkedList } from '../pipeline/linked-list.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { discard, type Reply } from '../pipeline/reply.ts';
import { firstOrTimeout } from '#core/platform/timing/deadline.ts';
import { type Conversations, type Correspondent, type InboundMessage, openMessage } from './converse.ts';
import { openExchange, type Serving, type Variant } from './open-exchange.ts';
import { allowOrigin } from './cors.ts';
import { discardBody, outcomeOf, ReplyDelivery, reportStalled, statusOf } from './delivery.ts';
import type { EndpointTable } from './paths.ts';

const settleTimeMs = 10_000; // for stages still running when their exchange ends

/** Runs the pipeline for the requests that hapi routes here, and tracks those in flight. */
export class ExchangeHandler implements Conversations {
  readonly #endpoints: EndpointTable;
  readonly #running = new LinkedList<Exchange>();
  #serving: Serving | undefined;
  #variant: Variant | undefined;
  #isClosing = false;
  #toClose = 0;
  #refusesNew = false;
  readonly #onDrain: (() => void)[] = [];

  constructor(endpoints: EndpointTable) {
    this.#endpoints = endpoints;
  }

  get serving(): Serving {
    if (this.#serving === undefined) throw new Error('the gateway has not started yet');
    return this.#serving;
  }

  /** Makes new exchanges use this configuration. Returns the previous one. */
  serve(next: Serving): Serving | undefined {
    const previous = this.#serving;
    this.#serving = next;
    return previous;
  }

  /** Makes new exchanges of the variant's accounts use it. */
  serveVariant(variant: Variant | undefined): void {
    this.#variant = variant;
  }

  /** True if the next response must close its connection. */
  closesNext(): boolean {
    if (this.#toClose === 0) return this.#isClosing;
    this.#toClose--;
    return true;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Makes every further response close its connection, so that clients reconnect elsewhere. */
  close(): void {
    this.#isClosing = true;
  }

  /** Makes this many further responses close their connections, so that their clients reconnect to another process on the same port. */
  closeSome(count: number): void {
    this.#toClose = count;
  }

  /** Rejects new exchanges. */
  refuseNew(): void {
    this.#refusesNew = true;
    this.drainConversations();
  }

  /** Registers a listener for when connections that outlive their exchanges must close, once nothing runs on them. */
  onDrain(listener: () => void): void {
    this.#onDrain.push(listener);
  }

  drainConversations(): void {
    for (const listener of this.#onDrain) listener();
  }

  /** Ends every exchange in flight with this error. */
  abortAll(error: GatewayError): void {
    for (const exchange of this.#running.items()) exchange.abort(error);
  }

  readonly handle: Lifecycle.Method = ({ raw: { req, res }, path }: Request, h: ResponseToolkit) => {
    // hapi logs and renders errors thrown here.
    this.run(req, res, path);
    return h.abandon;
  };

  /**
   * @param path without a query
   * @param refusal why the request is rejected, if it is
   * @throws the error that prevents an exchange; nothing was started then
   */
  run(req: IncomingMessage, res: ServerResponse, path: string, refusal = this.refusal()): void {
    const { serving } = this;
    if (req.headers.origin !== undefined && allowOrigin(req, res, serving.corsOrigins)) return;
    const exchange = openExchange(req, path, serving, this.#endpoints, refusal);
    this.#run(exchange, req, res).catch((error: unknown) => this.#contain(exchange, res, serving.host, error));
  }

  async #run(exchange: Exchange, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const link = this.#running.add(exchange);
    try {
      const closed = this.#untilClosed(exchange, req, res, link);
      const serving = this.#variant === undefined ? this.serving : await this.#choose(exchange, this.#variant);
      const { pipeline } = serving;
      pipeline.begin(exchange);
      const delivery = new ReplyDelivery(exchange, res, serving, () => this.closesNext());
      exchange.sender = delivery;
      // If the client already disconnected, there is only a record.
      const answered = exchange.isClientGone ? undefined : this.#answer(exchange, req, res, serving, delivery);
      const duration = await closed;
      if (exchange.taker !== undefined) {
        await answered;
        this.#running.remove(link);
        await pipeline.finish(exchange, outcomeOf(exchange, statusOf(res), delivery.sent, exchange.elapsed));
        return;
      }
      // The stages got the abort signal; their reports belong in the record.
      if (delivery.sent === undefined && answered !== undefined) await firstOrTimeout([answered], settleTimeMs);
      await pipeline.finish(exchange, outcomeOf(exchange, statusOf(res), delivery.sent, duration));
    } finally {
      exchange.body.release?.();
      exchange.memory.release();
    }
  }

  async converse(message: InboundMessage, client: Correspondent): Promise<void> {
    const exchange = openMessage(message, this.serving, this.refusal());
    const link = this.#running.add(exchange);
    client.began(exchange);
    const { log } = this.serving.host;
    try {
      const { pipeline } = this.#variant === undefined ? this.serving : await this.#choose(exchange, this.#variant);
      pipeline.begin(exchange);
      const reply = await pipeline.answer(exchange);
      const onStalled = (seconds: number) => reportStalled(exchange, seconds, pipeline);
      // A stage that detached the exchange from its client gets the reply, as for a POST.
      if (exchange.taker !== undefined) await exchange.taker(reply);
      const sent = await client.deliver(exchange, reply, onStalled).catch((error: unknown) => {
        // The stages are still notified of the end.
        noteFailure(log, 'answering a message', error, exchange.id);
        exchange.fail(toGatewayError(error));
        discard(reply);
      });
      this.#running.remove(link);
      await pipeline.finish(exchange, outcomeOf(exchange, sent?.status, sent ?? undefined, exchange.elapsed));
    } catch (error) {
      noteFailure(log, 'running a message', error, exchange.id);
    } finally {
      this.#running.remove(link);
      exchange.body.release?.();
      exchange.memory.release();
    }
  }

  accountOf(message: Omit<InboundMessage, 'body'>): Promise<string | undefined> | string | undefined {
    return this.serving.pipeline.accountOf?.(openMessage({ ...message, body: [] }, this.serving));
  }

  addressOf(peer: string | undefined, headers: IncomingHttpHeaders): string | undefined {
    return peer === undefined ? undefined : this.serving.readConnection(peer, headers).address;
  }

  /** Selects the configuration that serves the whole exchange. Never rejects. */
  async #choose(exchange: Exchange, variant: Variant): Promise<Serving> {
    try {
      const account = await this.serving.pipeline.accountOf?.(exchange);
      // The variant may have been replaced meanwhile.
      if (account !== undefined && variant === this.#variant && variant.takes(account)) {
        exchange.variant = variant.number;
        return variant.serving;
      }
    } catch {
      // The stage will reject the request for the same reason.
    }
    return this.serving;
  }

  /** Resolves (ms) when the response is delivered or the connection is gone. */
  #untilClosed(
    exchange: Exchange,
    request: IncomingMessage,
    response: ServerResponse,
    link: Link<Exchange>,
  ): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    const onClose = () => {
      // A failure of the gateway is not a client disconnect.
      if (exchange.taker === undefined) {
        if (!response.writableFinished) exchange.abort(exchange.failure ?? new ClientGone());
        this.#running.remove(link);
      }
      resolve(exchange.elapsed);
    };
    if (hasLeft(request, response)) onClose();
    else response.once('close', onClose);
    return promise;
  }

  /** Runs the pipeline and starts sending the reply unless the client has disconnected. Never rejects. */
  async #answer(
    exchange: Exchange,
    request: IncomingMessage,
    response: ServerResponse,
    { pipeline, host }: Serving,
    delivery: ReplyDelivery,
  ): Promise<void> {
    let reply: Reply | undefined;
    try {
      reply = await pipeline.answer(exchange);
      if (exchange.taker === undefined) delivery.reply(reply);
      else await exchange.taker(reply);
    } catch (error) {
      // For example a header that HTTP does not allow. This is the only place that sees it.
      if (reply !== undefined) discard(reply);
      this.#contain(exchange, response, host, error);
    } finally {
      if (!request.complete) discardBody(request);
    }
  }

  /** Fails this exchange only, with an error response unless one has started. */
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
      // The format that renders errors failed too.
      response.destroy();
    }
  }

  /** Reason for rejecting new requests; undefined if accepting. */
  refusal(): GatewayError | undefined {
    if (this.#refusesNew)
      return new GatewayError('shutting_down', 'The gateway is stopping. Try again.', { retryAfter: 1 });
    const { memory } = this.serving.host;
    if (!memory.isExhausted) return undefined;
    memory.refuse('request');
    return new GatewayError('unavailable', 'The gateway is out of memory. Try again.', { retryAfter: 2 });
  }
}

/** Returns true if the connection closed, or was reset before it was accepted, in which case the system knows no peer. */
export function hasLeft({ socket }: IncomingMessage, response: ServerResponse): boolean {
  return response.closed || socket.destroyed || socket.writableEnded || socket.remoteAddress === undefined;
}
