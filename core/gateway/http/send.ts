import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { noteFailure } from '#core/platform/background.ts';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { renderKeepAlive, renderStreamError } from '../pipeline/render-error.ts';
import { createTruncatedReplyError, replyListener, type Reply } from '../pipeline/reply.ts';
import { BodyWriter } from './body-writer.ts';
import { StallWatch } from './stall-watch.ts';
import { isFullyAccepted, watchClient } from './stalled-client.ts';

/**
 * How often a stream that sends no data gets a keep-alive. Proxies cut streams that are idle for a minute, and Caddy 2.11 loses their end.
 * Apache and Varnish detect a disconnected client only on the second write: at 15 s, that is half a minute of a paid response. At 5 s,
 * 1,000 silent streams take 1.4 % of a core; at 15 s, 0.6 %.
 */
const keepAliveAfterMs = 5_000;

export const abortGraceMs = 500; // for stages to end the body themselves when the gateway ends their exchange

/** Progress of sending a reply; read when the exchange ends. */
export interface SendProgress {
  bytes: number;
  firstByteAfter: number | undefined; // ms
}

export interface SendOptions {
  readonly headers: Readonly<Record<string, string>>; // added to those of the reply
  readonly writeTimeout: number; // seconds until a client that reads nothing is disconnected, even if keep-alives are written to it
  readonly log: Logger;
  /** Called when the body has sent no chunk for `seconds`. Returns the error that ends the body. */
  onStalled(seconds: number): GatewayError;
}

/**
 * Writes a reply to the socket as fast as the client reads. A failed stream ends with an error if the client's format has one. Its body is
 * never completed, so that a client that ignores the error sees a broken connection. A client that stops reading is disconnected, because
 * it would hold an upstream connection and a slot forever.
 */
export function sendReply(
  response: ServerResponse,
  exchange: Exchange,
  reply: Reply,
  options: SendOptions,
): SendProgress {
  const { headers: extraHeaders, writeTimeout } = options;
  const progress: SendProgress = { bytes: 0, firstByteAfter: undefined };
  const { body } = reply;
  const headers: Record<string, string | number> = {
    // Replies are private to an account, unless a stage sets another value.
    'cache-control': 'no-store',
    ...reply.headers,
    'x-request-id': exchange.id,
    'request-id': exchange.id,
    ...extraHeaders,
  };
  if (body === null || typeof body === 'string' || Buffer.isBuffer(body)) {
    sendWhole(response, exchange, reply.status, headers, body ?? '', progress);
  } else {
    sendStream(response, exchange, reply, headers, body, progress, options);
  }
  // The system has already accepted most replies that are sent whole.
  if (!isFullyAccepted(response))
    watchClient(response, writeTimeout, () => disconnect(response, exchange, writeTimeout));
  return progress;
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
  // Stages provide the body, the trailers and the failure text. An uncaught exception from them would end the process.
  const failStream = (thrown: unknown) => {
    noteFailure(log, 'sending a stream', thrown, exchange.id);
    exchange.fail(toGatewayError(thrown));
    if (!response.writableEnded) writer.endTruncated();
    body.destroy();
  };
  const endWithError = (thrown: unknown) => {
    if (response.writableEnded || response.destroyed) return;
    const error = toGatewayError(thrown);
    exchange.fail(error);
    if (!isEventStream) {
      writer.endTruncated();
      return;
    }
    try {
      const text = reply.renderFailure?.(error) ?? renderStreamError(error, exchange);
      writer.endTruncated(text);
      sent.bytes += Buffer.byteLength(text);
      listener?.(text);
    } catch (failure) {
      failStream(failure);
    }
  };
  const end = (error: GatewayError) => {
    endWithError(error);
    body.destroy();
  };
  const isUnread = () => body.isPaused() || writer.isFull;
  const stallWatch = new StallWatch(exchange.bodyLayers, isUnread, (seconds) => end(onStalled(seconds)));
  endBodyOnAbort(exchange, response, end);
  body.on('data', (chunk: Buffer) => {
    if (response.writableEnded) return;
    sent.firstByteAfter ??= exchange.elapsed;
    sent.bytes += chunk.length;
    const now = performance.now();
    keepAlive?.restart(now);
    stallWatch.recordChunk(now);
    try {
      if (!writer.write(chunk)) body.pause();
      listener?.(chunk);
    } catch (error) {
      failStream(error);
    }
  });
  response.on('drain', () => body.resume());
  body.once('end', () => {
    try {
      if (trailers !== undefined) response.addTrailers(trailers.read());
      writer.end();
    } catch (error) {
      failStream(error);
    }
  });
  body.once('error', endWithError);
  body.once('close', () => {
    keepAlive?.stop();
    stallWatch.stop();
    // A body that closes without an end or error is truncated.
    if (!body.readableEnded && body.errored === null) endWithError(createTruncatedReplyError());
  });
  response.once('close', () => {
    keepAlive?.stop();
    stallWatch.stop();
    body.destroy();
    exchange.bodyLayers.close();
  });
}

/** Ends the body of an aborted exchange if the stage does not, so that plugins need not listen for the abort. */
function endBodyOnAbort(exchange: Exchange, response: ServerResponse, end: (error: GatewayError) => void): void {
  const onAbort = (reason: ClientGone | GatewayError) => {
    if (reason instanceof ClientGone || response.destroyed) return;
    const timer = setTimeout(() => end(reason), abortGraceMs).unref();
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
