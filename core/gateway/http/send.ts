import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { noteFailure } from '#core/platform/background.ts';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { renderKeepAlive, renderStreamError } from '../pipeline/render-error.ts';
import { replyListener, type Reply } from '../pipeline/reply.ts';
import { BodyWriter } from './body-writer.ts';
import { StallWatch } from './stall-watch.ts';
import { isTaken, watchClient } from './stalled-client.ts';

/**
 * Ms without data after which a stream gets a keep-alive, and each further one. Proxies cut streams that are idle for a minute, and Caddy
 * 2.11 loses their end. Apache and Varnish detect a disconnected client only on the second write: at 15 s, that is half a minute of a paid
 * response. At 5 s, 1,000 silent streams take 1.4 % of a core; at 15 s, 0.6 %.
 */
const keepAliveAfterMs = 5_000;

/** Ms for stages to end the body themselves when the gateway ends their exchange. */
export const abortGrace = 500;

/** Progress of sending a reply; read when the exchange ends. */
export interface SendProgress {
  bytes: number;
  firstByteAfter: number | undefined; // ms
}

export interface SendOptions {
  /** Added to the reply's headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly writeTimeout: number; // seconds without a byte read by the client; keep-alives written to it do not count
  readonly log: Logger;
  /** Called when the body has stalled for that long. Returns the error that ends it. */
  onStalled(seconds: number): GatewayError;
}

/**
 * Writes a reply to the socket as fast as the client reads. A failed stream ends with an error in the client's format, if that has one, and
 * never with the end of its body: a client that ignores the error sees a broken connection. A client that stops reading is disconnected,
 * because it would hold an upstream connection and a slot forever.
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
  // Most whole replies were taken by the system at this point.
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
  const writer = new BodyWriter(response);
  // Node sends the head only with the first bytes of the body.
  if (reply.isAwaited === true) writer.write(keepAliveText ?? '');
  const keepAlive = keepAliveText === undefined ? undefined : startKeepAlive(response, writer, keepAliveText);
  const listener = exchange.find(replyListener);
  // Body, trailers and the failure text come from stages; an exception from them would end the process here.
  const giveUp = (thrown: unknown) => {
    noteFailure(log, 'sending a stream', thrown, exchange.id);
    exchange.fail(toGatewayError(thrown));
    if (!response.writableEnded) writer.breakOff();
    body.destroy();
  };
  const breakOff = (thrown: unknown) => {
    if (response.writableEnded || response.destroyed) return;
    const error = toGatewayError(thrown);
    exchange.fail(error);
    if (!isEventStream) {
      writer.breakOff();
      return;
    }
    try {
      const text = reply.renderFailure?.(error) ?? renderStreamError(error, exchange);
      writer.breakOff(text);
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
    // Closed without an end or error: the body is truncated.
    if (!body.readableEnded && body.errored === null)
      breakOff(new GatewayError('upstream_failed', 'The response was truncated.'));
  });
  response.once('close', () => {
    keepAlive?.stop();
    stalled.stop();
    body.destroy();
    exchange.bodyLayers.close();
  });
}

/** Ends the body if the stages of an aborted exchange do not, so that plugins need not listen for the abort. */
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
  timer.start(keepAliveAfterMs);
  return timer;
}
