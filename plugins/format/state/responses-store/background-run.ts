import { Readable } from 'node:stream';
import { bounds } from '#core/platform/bounds.ts';
import { inBackground } from '#core/platform/background.ts';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { type Reply, replyListener } from '#core/gateway/pipeline/reply.ts';
import { renderStreamError } from '../../formats/responses/reply/reply-object.ts';
import { member } from '../../wire/members.ts';
import { EventLog } from './event-log.ts';
import { failedResponse } from './find-response.ts';
import { endingOf, eventsIn, isEnding, responseIn, type WrittenEvent, writeEvent } from './response-events.ts';
import { type RunKey, RunRows } from './run-rows.ts';
import { responsesSection } from './register.ts';
import { runsOf } from './runs.ts';
import type { ResponsesReply } from '../../wire/responses.ts';

/** Ms until other instances consider a run abandoned, and interval at which its instance renews the lease. */
export const lease = 30_000;
const renewEvery = 3_000;
/** Ms between attempts to store the end while the database fails; they stop when the lease expires. */
const retryEvery = 2_000;

/**
 * A response that continues without its client. The request's own exchange goes on, and the run takes the place of the client: it
 * stores the bytes that the client would have received.
 */
export class BackgroundRun {
  readonly #host: Host;
  readonly #exchange: Exchange;
  readonly #key: RunKey;
  readonly #rows: RunRows;
  readonly #log: EventLog;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #remove: () => void;
  /** Members that override the upstream's in every response object. */
  readonly #fixed: JsonObject;
  /** The latest response object, with the output so far. */
  #response: JsonObject;
  #hasEnded = false;
  #renewedAt: number; // ms, monotonic

  /** @param queued the response object that was sent to the client */
  constructor(host: Host, exchange: Exchange, key: RunKey, queued: JsonObject) {
    const { id, background, store, previous_response_id }: ResponsesReply = queued;
    this.#fixed = {
      id: id ?? null,
      background: background ?? true,
      store: store ?? true,
      previous_response_id: previous_response_id ?? null,
    };
    this.#host = host;
    this.#exchange = exchange;
    this.#key = key;
    this.#response = queued;
    this.#rows = new RunRows(host.database);
    this.#renewedAt = host.monotonic();
    this.#remove = runsOf(host).add(key, () => exchange.abort(new ClientGone()));
    this.#log = new EventLog(async (events) => {
      await this.#rows.append(key, events, host.now());
      runsOf(host).wake(key);
    }, host.log);
    this.#heartbeat = setInterval(() => inBackground(host.log, 'renewing a response', () => this.#renew()), renewEvery);
  }

  readonly take = async (reply: Reply): Promise<void> => {
    try {
      await this.#read(reply).catch((error: unknown) => this.#fail(error, reply));
      if (!this.#exchange.isClientGone) await this.#end();
    } finally {
      clearInterval(this.#heartbeat);
      this.#remove();
      runsOf(this.#host).wake(this.#key);
    }
  };

  /** Also ends the run if the response was cancelled, deleted or declared abandoned. */
  async #renew(): Promise<void> {
    const host = this.#host;
    const now = host.monotonic();
    const isRunning = await this.#rows.renew(this.#key, host.now() + lease).catch((error: unknown) => {
      // The lease has expired: other instances consider the run abandoned.
      if (now - this.#renewedAt > lease) return false;
      throw error;
    });
    this.#renewedAt = now;
    if (!isRunning) this.#exchange.abort(new ClientGone());
  }

  /** @throws the error that interrupted the reply */
  async #read({ status, body }: Reply): Promise<void> {
    if (status !== 200) throw refusalIn(this.#exchange, body);
    const listener = this.#exchange.find(replyListener);
    const chunks: AsyncIterable<Buffer> | Iterable<Buffer | string> = body instanceof Readable ? body : [body ?? ''];
    for await (const chunk of chunks) {
      listener?.(chunk);
      for (const event of eventsIn(chunk.toString())) this.#take(event);
      await this.#log.room();
      if (this.#log.total > bounds.backgroundEvents)
        throw new GatewayError('upstream_failed', `The response exceeds ${bounds.backgroundEvents} characters.`);
    }
    if (!this.#hasEnded) throw new GatewayError('upstream_failed', 'The response was truncated.');
  }

  #take(event: WrittenEvent): void {
    if (this.#hasEnded) return;
    const sequence = event.sequence ?? this.#log.last + 1;
    const response = responseIn(event);
    const isFirst = response !== undefined && this.#log.last === -1;
    if (response !== undefined) this.#response = { ...response, ...this.#fixed };
    this.#log.add(response === undefined ? event.text : writeEvent(event.type, this.#response, sequence), sequence);
    this.#hasEnded = isEnding(event);
    if (!isFirst || this.#hasEnded) return;
    inBackground(this.#host.log, 'storing a response', () => this.#rows.update(this.#key, this.#response));
  }

  /** Ends the response in the same way as a client's stream. */
  async #fail(thrown: unknown, { renderFailure }: Reply): Promise<void> {
    if (this.#exchange.isClientGone) return;
    const error = toGatewayError(thrown);
    this.#exchange.fail(error);
    const text = renderFailure?.(error) ?? renderStreamError(error, this.#key.id);
    const events = eventsIn(text);
    const last: JsonObject = events.map(responseIn).findLast((response) => response !== undefined) ?? {};
    const failed: JsonObject = { ...this.#response, ...last, ...this.#fixed, status: 'failed' };
    this.#response = failed;
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const { type, text: written, sequence } of events) {
      if (type === 'error' && sequence !== undefined && sequence > this.#log.last) this.#log.add(written, sequence);
    }
    this.#log.add(endingOf(failed, this.#log.last + 1), this.#log.last + 1);
  }

  /** Stores the end; while the database fails, retries until another instance would consider the run abandoned. */
  async #end(): Promise<void> {
    const until = this.#host.monotonic() + lease;
    const maxBytes = this.#host.section(responsesSection).max_bytes;
    for (;;) {
      try {
        await this.#log.flush();
        const size = JSON.stringify(this.#response).length;
        const response = size <= maxBytes ? this.#response : tooLarge(this.#response, maxBytes);
        await this.#rows.end(this.#key, response, this.#host.now());
        return;
      } catch (error) {
        if (this.#host.monotonic() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryEvery));
      }
    }
  }
}

function tooLarge(response: JsonObject, maxBytes: number): JsonObject {
  const failed = failedResponse(response, 'server_error', `The response exceeds ${maxBytes} bytes and was not stored.`);
  return { ...failed, output: [] };
}

function refusalIn({ failure }: Exchange, body: Reply['body']): GatewayError {
  if (failure !== undefined) return failure;
  const parsed = typeof body === 'string' || Buffer.isBuffer(body) ? parseObject(body.toString()) : undefined;
  const message = isJsonObject(parsed) ? member(parsed['error'], 'message') : undefined;
  return new GatewayError('upstream_failed', typeof message === 'string' ? message : 'The request was refused.');
}
