import { Readable } from 'node:stream';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { createTruncatedReplyError, type Reply, replyListener } from '#core/gateway/pipeline/reply.ts';
import { runInBackground } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import { renderStreamError } from '../../formats/responses/reply/reply-object.ts';
import { readMember } from '../../wire/members.ts';
import type { ResponsesReply } from '../../wire/responses.ts';
import { EventLog } from './event-log.ts';
import { createFailedResponse } from './find-response.ts';
import { responsesSection } from './register.ts';
import {
  writeEndEvent,
  parseEvents,
  isEnding,
  readResponse,
  type WrittenEvent,
  writeEvent,
} from './response-events.ts';
import { type RunKey, RunRows } from './run-rows.ts';
import { getBackgroundRuns } from './runs.ts';

/** Other instances consider a run abandoned after this time, unless its instance renews the lease. */
export const leaseMs = 30_000;
const renewIntervalMs = 3_000;
const retryIntervalMs = 2_000; // between attempts to store the end, until the lease expires

/**
 * A response that is generated without its client. The run takes the client's place in the exchange and stores the bytes that the client
 * would have received.
 */
export class BackgroundRun {
  readonly #host: Host;
  readonly #exchange: Exchange;
  readonly #key: RunKey;
  readonly #rows: RunRows;
  readonly #log: EventLog;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #removeRun: () => void;
  /** Members that replace the upstream's in every response object. */
  readonly #fixedMembers: JsonObject;
  #latestResponse: JsonObject;
  #hasEnded = false;
  #renewedAt: number; // ms, monotonic

  constructor(host: Host, exchange: Exchange, key: RunKey, queuedResponse: JsonObject) {
    const { id, background, store, previous_response_id }: ResponsesReply = queuedResponse;
    this.#fixedMembers = {
      id: id ?? null,
      background: background ?? true,
      store: store ?? true,
      previous_response_id: previous_response_id ?? null,
    };
    this.#host = host;
    this.#exchange = exchange;
    this.#key = key;
    this.#latestResponse = queuedResponse;
    this.#rows = new RunRows(host.database);
    this.#renewedAt = host.monotonic();
    this.#removeRun = getBackgroundRuns(host).add(key, () => exchange.abort(new ClientGone()));
    this.#log = new EventLog(async (events) => {
      await this.#rows.append(key, events, host.now());
      getBackgroundRuns(host).wake(key);
    }, host.log);
    this.#heartbeat = setInterval(
      () => runInBackground(host.log, 'renewing a response', () => this.#renew()),
      renewIntervalMs,
    );
  }

  /** Reads the reply as the client would, and stores its events and its end. */
  readonly takeReply = async (reply: Reply): Promise<void> => {
    try {
      await this.#readReply(reply).catch((error: unknown) => this.#fail(error, reply));
      if (!this.#exchange.isClientGone) await this.#end();
    } finally {
      clearInterval(this.#heartbeat);
      this.#removeRun();
      getBackgroundRuns(this.#host).wake(this.#key);
    }
  };

  /** Renews the lease. Ends the run if the response was cancelled, deleted or declared abandoned. */
  async #renew(): Promise<void> {
    const host = this.#host;
    const now = host.monotonic();
    const isRunning = await this.#rows.renew(this.#key, leaseMs).catch((error: unknown) => {
      // The lease has expired, so other instances consider the run abandoned.
      if (now - this.#renewedAt > leaseMs) return false;
      throw error;
    });
    this.#renewedAt = now;
    if (!isRunning) this.#exchange.abort(new ClientGone());
  }

  async #readReply({ status, body }: Reply): Promise<void> {
    if (status !== 200) throw readRefusal(this.#exchange, body);
    const listener = this.#exchange.find(replyListener);
    const chunks: AsyncIterable<Buffer> | Iterable<Buffer | string> = body instanceof Readable ? body : [body ?? ''];
    for await (const chunk of chunks) {
      listener?.(chunk);
      for (const event of parseEvents(chunk.toString())) this.#storeEvent(event);
      await this.#log.waitForRoom();
      if (this.#log.totalCharacters > bounds.backgroundEvents)
        throw new GatewayError('upstream_failed', `The response exceeds ${bounds.backgroundEvents} characters.`);
    }
    if (!this.#hasEnded) throw createTruncatedReplyError();
  }

  #storeEvent(event: WrittenEvent): void {
    if (this.#hasEnded) return;
    const sequence = event.sequence ?? this.#log.lastSequence + 1;
    const response = readResponse(event);
    const isFirst = response !== undefined && this.#log.lastSequence === -1;
    if (response !== undefined) this.#latestResponse = { ...response, ...this.#fixedMembers };
    this.#log.add(
      response === undefined ? event.text : writeEvent(event.type, this.#latestResponse, sequence),
      sequence,
    );
    this.#hasEnded = isEnding(event);
    if (!isFirst || this.#hasEnded) return;
    runInBackground(this.#host.log, 'storing a response', () => this.#rows.update(this.#key, this.#latestResponse));
  }

  /** Ends the response as a client's stream would end. */
  async #fail(thrown: unknown, { renderFailure }: Reply): Promise<void> {
    if (this.#exchange.isClientGone) return;
    const error = toGatewayError(thrown);
    this.#exchange.fail(error);
    const text = renderFailure?.(error) ?? renderStreamError(error, this.#key.id);
    const events = parseEvents(text);
    const lastResponse: JsonObject = events.map(readResponse).findLast((response) => response !== undefined) ?? {};
    const endResponse: JsonObject = {
      ...this.#latestResponse,
      ...lastResponse,
      ...this.#fixedMembers,
      status: 'failed',
    };
    this.#latestResponse = endResponse;
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const { type, text: eventText, sequence } of events) {
      if (type === 'error' && sequence !== undefined && sequence > this.#log.lastSequence)
        this.#log.add(eventText, sequence);
    }
    this.#log.add(writeEndEvent(endResponse, this.#log.lastSequence + 1), this.#log.lastSequence + 1);
  }

  /** Stores the end. If the database fails, retries until other instances would consider the run abandoned. */
  async #end(): Promise<void> {
    const deadline = this.#host.monotonic() + leaseMs;
    const maxBytes = this.#host.section(responsesSection).max_bytes;
    for (;;) {
      try {
        await this.#log.flush();
        const size = JSON.stringify(this.#latestResponse).length;
        const response =
          size <= maxBytes ? this.#latestResponse : createTooLargeResponse(this.#latestResponse, maxBytes);
        await this.#rows.end(this.#key, response, this.#host.now());
        return;
      } catch (error) {
        if (this.#host.monotonic() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryIntervalMs));
      }
    }
  }
}

function createTooLargeResponse(response: JsonObject, maxBytes: number): JsonObject {
  const failure = createFailedResponse(
    response,
    'server_error',
    `The response exceeds ${maxBytes} bytes and was not stored.`,
  );
  return { ...failure, output: [] };
}

function readRefusal({ failure }: Exchange, body: Reply['body']): GatewayError {
  if (failure !== undefined) return failure;
  const parsed = typeof body === 'string' || Buffer.isBuffer(body) ? parseObject(body.toString()) : undefined;
  const message = isJsonObject(parsed) ? readMember(parsed['error'], 'message') : undefined;
  return new GatewayError('upstream_failed', typeof message === 'string' ? message : 'The request was refused.');
}
