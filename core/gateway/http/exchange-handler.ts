import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Lifecycle, Request, ResponseToolkit } from '@hapi/hapi';
import { noteFailure } from '#core/platform/background.ts';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';
import type { Host } from '../host/host.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Link, LinkedList } from '../pipeline/linked-list.ts';
import { renderError } from '../pipeline/render-error.ts';
import { discard, type Reply } from '../pipeline/reply.ts';
import { allowOrigin } from './cors.ts';
import { discardBody, createOutcome, ReplyDelivery, reportStall, statusOf } from './delivery.ts';
import { openExchange, type Serving, type Variant } from './open-exchange.ts';
import type { EndpointTable } from './paths.ts';
import { type MessageRunner, type MessageClient, type InboundMessage, openMessageExchange } from './run-message.ts';

const settleTimeMs = 10_000; // for stages still running when their exchange ends

/** Runs the pipeline for requests and messages, and tracks the exchanges in flight. */
export class ExchangeHandler implements MessageRunner {
  readonly #endpoints: EndpointTable;
  readonly #exchanges: LinkedList<Exchange>;
  #serving: Serving | undefined;
  #variant: Variant | undefined;
  #isClosing = false;
  #closesLeft = 0;
  #isRefusing = false;
  readonly #drainListeners: (() => void)[] = [];

  constructor(endpoints: EndpointTable, running: LinkedList<Exchange>) {
    this.#endpoints = endpoints;
    this.#exchanges = running;
  }

  get serving(): Serving {
    if (this.#serving === undefined) throw new Error('the gateway has not started yet');
    return this.#serving;
  }

  /** Makes new exchanges use this configuration, and returns the previous one. */
  serve(next: Serving): Serving | undefined {
    const previous = this.#serving;
    this.#serving = next;
    return previous;
  }

  serveVariant(variant: Variant | undefined): void {
    this.#variant = variant;
  }

  /** Returns true if the next response must close its connection, and counts that response, see `closeAfterNext`. */
  claimClose(): boolean {
    if (this.#closesLeft === 0) return this.#isClosing;
    this.#closesLeft--;
    return true;
  }

  get exchangesInFlight(): number {
    return this.#exchanges.size;
  }

  /** Makes every further response close its connection, so that clients reconnect elsewhere. */
  closeAfterResponses(): void {
    this.#isClosing = true;
  }

  /** Makes the next `count` responses close their connections, so that their clients reconnect to another process on the same port. */
  closeAfterNext(count: number): void {
    this.#closesLeft = count;
  }

  refuseNew(): void {
    this.#isRefusing = true;
    this.closeIdleConnections();
  }

  /** Registers a listener that closes connections that outlive their exchanges, once no exchange runs on them. */
  onDrain(listener: () => void): void {
    this.#drainListeners.push(listener);
  }

  closeIdleConnections(): void {
    for (const listener of this.#drainListeners) listener();
  }

  abortAll(error: GatewayError): void {
    for (const exchange of this.#exchanges.items()) exchange.abort(error);
  }

  readonly handle: Lifecycle.Method = ({ raw: { req: request, res: response }, path }: Request, h: ResponseToolkit) => {
    // hapi logs and renders errors thrown here.
    this.run(request, response, path);
    return h.abandon;
  };

  /**
   * Starts the exchange of a request.
   *
   * @param path path without the query string
   * @param refusal error for the client if the request is refused
   * @throws Error if no exchange could be created, so that nothing was started
   */
  run(req: IncomingMessage, res: ServerResponse, path: string, refusal = this.checkAdmission()): void {
    const { serving } = this;
    if (req.headers.origin !== undefined && allowOrigin(req, res, serving.corsOrigins)) return;
    const exchange = openExchange(req, path, serving, this.#endpoints, refusal);
    this.#run(exchange, req, res).catch((error: unknown) => this.#failResponse(exchange, res, serving.host, error));
  }

  async #run(exchange: Exchange, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const link = this.#exchanges.add(exchange);
    try {
      const closePromise = this.#waitForClose(exchange, request, response, link);
      const serving = this.#variant === undefined ? this.serving : await this.#chooseServing(exchange, this.#variant);
      const { pipeline } = serving;
      pipeline.start(exchange);
      const delivery = new ReplyDelivery(exchange, response, serving, () => this.claimClose());
      exchange.sender = delivery;
      // The exchange of a client that already disconnected is only recorded.
      const replyTask = exchange.isClientGone
        ? undefined
        : this.#deliverReply(exchange, request, response, serving, delivery);
      const duration = await closePromise;
      if (exchange.taker !== undefined) {
        await replyTask;
        this.#exchanges.remove(link);
        await pipeline.finish(
          exchange,
          createOutcome(exchange, statusOf(response), delivery.progress, exchange.elapsed),
        );
        return;
      }
      // The stages got the abort signal, and what they report while they stop belongs in the record.
      if (delivery.progress === undefined && replyTask !== undefined) await waitForFirst([replyTask], settleTimeMs);
      await pipeline.finish(exchange, createOutcome(exchange, statusOf(response), delivery.progress, duration));
    } finally {
      exchange.body.release?.();
      exchange.memory.release();
    }
  }

  async runMessage(message: InboundMessage, client: MessageClient): Promise<void> {
    const exchange = openMessageExchange(message, this.serving, this.checkAdmission());
    const link = this.#exchanges.add(exchange);
    client.onStart(exchange);
    const { log } = this.serving.host;
    try {
      const { pipeline } =
        this.#variant === undefined ? this.serving : await this.#chooseServing(exchange, this.#variant);
      pipeline.start(exchange);
      const reply = await pipeline.answer(exchange);
      const onStalled = (seconds: number) => reportStall(exchange, seconds, pipeline);
      // A stage that detached the exchange from its client gets the reply, as for a POST.
      if (exchange.taker !== undefined) await exchange.taker(reply);
      const messageDelivery = await client.deliver(exchange, reply, onStalled).catch((error: unknown) => {
        // `finish` below still notifies the stages.
        noteFailure(log, 'answering a message', error, exchange.id);
        exchange.fail(toGatewayError(error));
        discard(reply);
      });
      this.#exchanges.remove(link);
      await pipeline.finish(
        exchange,
        createOutcome(exchange, messageDelivery?.status, messageDelivery ?? undefined, exchange.elapsed),
      );
    } catch (error) {
      noteFailure(log, 'running a message', error, exchange.id);
    } finally {
      this.#exchanges.remove(link);
      exchange.body.release?.();
      exchange.memory.release();
    }
  }

  accountOf(message: Omit<InboundMessage, 'body'>): Promise<string | undefined> | string | undefined {
    return this.serving.pipeline.accountOf?.(openMessageExchange({ ...message, body: [] }, this.serving));
  }

  addressOf(peer: string | undefined, headers: IncomingHttpHeaders): string | undefined {
    return peer === undefined ? undefined : this.serving.readConnection(peer, headers).address;
  }

  /** Never rejects. */
  async #chooseServing(exchange: Exchange, variant: Variant): Promise<Serving> {
    try {
      const account = await this.serving.pipeline.accountOf?.(exchange);
      // The variant may have been replaced in the meantime.
      if (account !== undefined && variant === this.#variant && variant.includes(account)) {
        exchange.variant = variant.number;
        return variant.serving;
      }
    } catch {
      // The stage will refuse the request for the same reason.
    }
    return this.serving;
  }

  #waitForClose(
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
        this.#exchanges.remove(link);
      }
      resolve(exchange.elapsed);
    };
    if (isDisconnected(request, response)) onClose();
    else response.once('close', onClose);
    return promise;
  }

  /** Never rejects. */
  async #deliverReply(
    exchange: Exchange,
    request: IncomingMessage,
    response: ServerResponse,
    { pipeline, host }: Serving,
    delivery: ReplyDelivery,
  ): Promise<void> {
    let reply: Reply | undefined;
    try {
      reply = await pipeline.answer(exchange);
      if (exchange.taker === undefined) delivery.deliver(reply);
      else await exchange.taker(reply);
    } catch (error) {
      // For example, `writeHead` rejects a header.
      if (reply !== undefined) discard(reply);
      this.#failResponse(exchange, response, host, error);
    } finally {
      if (!request.complete) discardBody(request);
    }
  }

  #failResponse(exchange: Exchange, response: ServerResponse, { log }: Host, thrown: unknown): void {
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
      // The error could not be rendered either.
      response.destroy();
    }
  }

  /** Returns the error for a new request if the gateway refuses it now, and counts refusals for lack of memory. */
  checkAdmission(): GatewayError | undefined {
    if (this.#isRefusing)
      return new GatewayError('shutting_down', 'The gateway is stopping. Try again.', { retryAfter: 1 });
    const { memory } = this.serving.host;
    if (!memory.isExhausted) return undefined;
    memory.countRefusal('request');
    return new GatewayError('unavailable', 'The gateway is out of memory. Try again.', { retryAfter: 2 });
  }
}

/** A connection that was reset before it was accepted has no peer address. */
export function isDisconnected({ socket }: IncomingMessage, response: ServerResponse): boolean {
  return response.closed || socket.destroyed || socket.writableEnded || socket.remoteAddress === undefined;
}
