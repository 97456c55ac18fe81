import type { Readable } from 'node:stream';
import { ClientGone, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { replyListener } from '../pipeline/reply.ts';
import { abortGrace } from './send.ts';
import { StallWatch } from './stall-watch.ts';

interface BodyReader {
  /** @returns false to pause; the client then calls `resume` of the reading */
  take(chunk: Buffer): boolean;
  isFull(): boolean;
  /**
   * Called when the body stalls.
   *
   * @returns the error that ends it
   */
  onStalled(seconds: number): GatewayError;
}

/** A streamed body on its way to a client without an HTTP response. */
export interface BodyReading {
  /** Resolves with the cause of the end: undefined for a regular end, ClientGone if the client disconnected. Never rejects. */
  readonly ended: Promise<GatewayError | ClientGone | undefined>;
  resume(): void;
}

/** Reads a streamed body like `sendReply`: at the client's speed, until it ends, breaks or stalls, or the exchange is aborted. */
export function readReply(exchange: Exchange, body: Readable, { take, isFull, onStalled }: BodyReader): BodyReading {
  const { promise, resolve } = Promise.withResolvers<GatewayError | ClientGone | undefined>();
  const listener = exchange.find(replyListener);
  let isOver = false;
  const end = (reason: GatewayError | ClientGone | undefined) => {
    if (isOver) return;
    isOver = true;
    stalled.stop();
    body.destroy();
    exchange.bodyLayers.close();
    resolve(reason);
  };
  const isUnread = () => body.isPaused() || isFull();
  const stalled = new StallWatch(exchange.bodyLayers, isUnread, (seconds) => end(onStalled(seconds)));
  const onAbort = (reason: ClientGone | GatewayError) => {
    if (reason instanceof ClientGone) end(reason);
    else setTimeout(() => end(reason), abortGrace).unref();
  };
  if (exchange.abortReason === undefined) exchange.onAbort(onAbort);
  else onAbort(exchange.abortReason);
  body.on('data', (chunk: Buffer) => {
    if (isOver) return;
    stalled.progress();
    try {
      listener?.(chunk);
      if (!take(chunk)) body.pause();
    } catch (error) {
      end(toGatewayError(error));
    }
  });
  body.once('end', () => end(undefined));
  body.once('error', (error: unknown) => end(toGatewayError(error)));
  body.once('close', () => {
    if (!isOver) end(new GatewayError('upstream_failed', 'The response was truncated.'));
  });
  return { ended: promise, resume: () => body.resume() };
}
