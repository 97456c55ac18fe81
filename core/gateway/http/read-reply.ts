import type { Readable } from 'node:stream';
import { ClientGone, type GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { createTruncatedReplyError, replyListener } from '../pipeline/reply.ts';
import { abortGraceMs } from './send.ts';
import { StallWatch } from './stall-watch.ts';

interface BodySink {
  write(chunk: Buffer): boolean; // false pauses the body until `resume` is called
  isFull(): boolean;
  onStalled(seconds: number): GatewayError; // returns the error that ends the body
}

/** A streaming body that is being sent without an HTTP response, for example over a WebSocket. */
export interface BodyReading {
  /** Resolves to the error that ended the body, to ClientGone if the client disconnected, or to undefined. Never rejects. */
  readonly ended: Promise<GatewayError | ClientGone | undefined>;
  resume(): void;
}

/** Reads a streaming body at the client's speed, until the body ends, fails or stalls, or the exchange is aborted. See `sendReply`. */
export function readReply(exchange: Exchange, body: Readable, { write, isFull, onStalled }: BodySink): BodyReading {
  const { promise, resolve } = Promise.withResolvers<GatewayError | ClientGone | undefined>();
  const listener = exchange.find(replyListener);
  let isOver = false;
  const end = (reason: GatewayError | ClientGone | undefined) => {
    if (isOver) return;
    isOver = true;
    stallWatch.stop();
    body.destroy();
    exchange.bodyLayers.close();
    resolve(reason);
  };
  const isUnread = () => body.isPaused() || isFull();
  const stallWatch = new StallWatch(exchange.bodyLayers, isUnread, (seconds) => end(onStalled(seconds)));
  const onAbort = (reason: ClientGone | GatewayError) => {
    if (reason instanceof ClientGone) end(reason);
    else setTimeout(() => end(reason), abortGraceMs).unref();
  };
  if (exchange.abortReason === undefined) exchange.onAbort(onAbort);
  else onAbort(exchange.abortReason);
  body.on('data', (chunk: Buffer) => {
    if (isOver) return;
    stallWatch.recordChunk();
    try {
      listener?.(chunk);
      if (!write(chunk)) body.pause();
    } catch (error) {
      end(toGatewayError(error));
    }
  });
  body.once('end', () => end(undefined));
  body.once('error', (error: unknown) => end(toGatewayError(error)));
  body.once('close', () => {
    if (!isOver) end(createTruncatedReplyError());
  });
  return { ended: promise, resume: () => body.resume() };
}
