import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { noteFailure } from '#core/platform/background.ts';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { replyListener, type Reply } from '../pipeline/reply.ts';
import { renderKeepAlive, renderStreamError } from '../pipeline/render-error.ts';
import { BodyWriter } from './body-writer.ts';
import { StallWatch } from './stall-watch.ts';
import { isTaken, watchClient } from './stalled-client.ts';

/**
 * Ms without data after which a stream gets a keep-alive, and after each further one. Proxies cut streams that are idle for a minute,
 * and Caddy 2.11 loses their end. Apache and Varnish notice only by writing that a client has left, at the second write: half a
 * minute of a paid response at 15 s. At 5 s, 1,000 silent streams take 1.4 % of a core; 0.6 % at 15 s.
 */
const keepAliveAfter = 5_000;

/** Ms for the stages of an exchange that the gateway ends to end its body themselves. */
export const abortGrace = 500;

/** Bytes sent so far; read when the exchange is over. */
export interface SendProgress {
  bytes: number;
  firstByteAfter: number | undefined; // ms
}

export interface SendOptions {
  /** Added to those of the reply. */
  readonly headers: Readonly<Record<string, string>>;
  readonly writeTimeout: number; // seconds without a byte taken by the client; writing keep-alives does not count
  readonly log: Logger;
  /** The body has stalled for that long. Returns the error that ends it. */
  onStalled(seconds: number): GatewayError;
}

/**
 * Writes a reply to the socket as fast as the client reads. A stream that fails ends with an error in the client's
 * format, or with a reset where the format has none: never in a way that looks like a regular end. A client that stops
 * reading is disconnected: it would hold an upstream connection and a slot forever.
 */
export function sendReply(
  response: ServerResponse,
  exchange: Exchange,
  reply: Reply,
  options: SendOptions,
): SendProgress {
  const { headers: extra, writeTimeout } = options;
  const sent: SendProgress = { bytes: 0, firstByteAfter: undefined };
  const { body } = reply;
  const headers: Record<string, string | number> = {
    // Replies are private to an account, unless a stage sets another value.
    'cache-control': 'no-store',
    ...reply.headers,
    'x-request-id': exchange.id,
    'request-id': exchange.id,
    ...extra,
  };
  if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) {
    sendWhole(response, exchange, reply.status, headers, body ?? '', sent);
  } else {
    sendStream(response, exchange, reply, headers, body, sent, options);
  }
  // The system has taken most whole replies by now.
  if (!isTaken(response)) watchClient(response, writeTimeout, () => disconnect(response, exchange, writeTimeout));
  return sent;
}

function disconnect(response: ServerResponse, exchange: Exchange, seconds: number): void {
  response.destroy();
  exchange.fail(new GatewayError('request_timeout', `Client stopped reading for ${seconds} s; connection closed.`));
  exchange.abort(new ClientGone());
}

function sendWhole(
  response: ServerResponse,
  exchange: Exchange,
  status: number,
  headers: Record<string, string | number>,
  body: string | Buffer,
  sent: SendProgress,
): void {
  const length = Buffer.byteLength(body);
  headers['content-length'] = length;
  response.writeHead(status, headers);
  if (exchange.method === 'HEAD') {
    response.end();
    return;
  }
  response.end(body);
  exchange.find(replyListener)?.(body);
  sent.bytes = length;
  if (length > 0) sent.firstByteAfter = exchange.elapsed;
}

function sendStream(
  response: ServerResponse,
  exchange: Exchange,
  reply: Reply,
  headers: Record<string, string | number>,
  body: Readable,
  sent: SendProgress,
  { onStalled, log }: SendOptions,
): void {
  const isEventStream = headers['content-type']?.toString().startsWith('text/event-stream') === true;
  const keepAliveText = reply.keepAlive ?? (isEventStream ? renderKeepAlive(exchange.format) : undefined);
  if (keepAliveText !== undefined) headers['x-accel-buffering'] = 'no';
  // Trailers need chunked encoding, which HTTP/1.0 does not have.
  const trailers = response.useChunkedEncodingByDefault && exchange.method !== 'HEAD' ? reply.trailers : undefined;
  if (trailers !== undefined) headers['trailer'] = trailers.names.join(', ');
  response.writeHead(reply.status, headers);
  const writer = new BodyWriter(response, trailers !== undefined);
  // Node sends a head only with the first bytes that follow it.
  if (reply.isAwaited === true) writer.write(keepAliveText ?? '');
  const keepAlive = keepAliveText === undefined ? undefined : startKeepAlive(response, writer, keepAliveText);
  const listener = exchange.find(replyListener);
  // Stages have made body, trailers and the text of a failure; what these throw would end the process here.
  const giveUp = (thrown: unknown) => {
    noteFailure(log, 'sending a stream', thrown, exchange.id);
    exchange.fail(toGatewayError(thrown));
    response.destroy();
    body.destroy();
  };
  const breakOff = (thrown: unknown) => {
    if (response.writableEnded || response.destroyed) return;
    const error = toGatewayError(thrown);
    exchange.fail(error);
    if (!isEventStream) {
      response.destroy();
      return;
    }
    try {
      const text = reply.renderFailure?.(error) ?? renderStreamError(error, exchange);
      if (trailers !== undefined) response.addTrailers(trailers.read());
      writer.end(text);
      sent.bytes += Buffer.byteLength(text);
      listener?.(text);
    } catch (failure) {
      giveUp(failure);
    }
  };
  const end = (error: GatewayError) => {
    breakOff(error);
    body.destroy();
  };
  const isUnread = () => body.isPaused() || writer.isFull;
  const stalled = new StallWatch(exchange.bodyLayers, isUnread, (seconds) => end(onStalled(seconds)));
  onEnding(exchange, response, end);
  body.on('data', (chunk: Buffer) => {
    if (response.writableEnded) return;
    sent.firstByteAfter ??= exchange.elapsed;
    sent.bytes += chunk.length;
    const now = performance.now();
    keepAlive?.restart(now);
    stalled.progress(now);
    try {
      if (!writer.write(chunk)) body.pause();
      listener?.(chunk);
    } catch (error) {
      giveUp(error);
    }
  });
  response.on('drain', () => body.resume());
  body.once('end', () => {
    try {
      if (trailers !== undefined) response.addTrailers(trailers.read());
      writer.end();
    } catch (error) {
      giveUp(error);
    }
  });
  body.once('error', breakOff);
  body.once('close', () => {
    keepAlive?.stop();
    stalled.stop();
    // Closed without end or error: truncated.
    if (body.readableEnded || body.errored !== null || response.writableEnded || response.destroyed) return;
    exchange.fail(new GatewayError('upstream_failed', 'The response was truncated.'));
    response.destroy();
  });
  response.once('close', () => {
    keepAlive?.stop();
    stalled.stop();
    body.destroy();
    exchange.bodyLayers.close();
  });
}

/** Called when the gateway ends an exchange whose stages are late, so that plugins need not listen for it. */
function onEnding(exchange: Exchange, response: ServerResponse, end: (error: GatewayError) => void): void {
  const onAbort = (reason: ClientGone | GatewayError) => {
    if (reason instanceof ClientGone || response.destroyed) return;
    const timer = setTimeout(() => end(reason), abortGrace).unref();
    response.once('close', () => clearTimeout(timer));
  };
  if (exchange.abortReason === undefined) exchange.onAbort(onAbort);
  else onAbort(exchange.abortReason);
}

function startKeepAlive(response: ServerResponse, writer: BodyWriter, text: string): LagTolerantTimer {
  const timer = new LagTolerantTimer(() => {
    if (!writer.isFull && !response.writableEnded) writer.write(text);
    timer.restart();
  });
  timer.start(keepAliveAfter);
  return timer;
}
