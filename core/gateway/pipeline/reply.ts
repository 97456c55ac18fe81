import { Readable } from 'node:stream';
import { GatewayError } from '#core/platform/errors/table.ts';
import { defineFact } from './fact.ts';

/** A response on its way to the client. Nothing is sent before `leave` has run for every stage, which makes status and headers final. */
export interface Reply {
  readonly status: number;
  /** Lower-case names. `content-length` is set by the host. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The complete body, or a stream of bytes (never in object mode). Each chunk of a `text/event-stream` contains whole events. A stream that
   * fails is destroyed with the error; the host then reports the error to the client inside the stream, in the client's format, and closes
   * the connection.
   */
  readonly body: Buffer | string | Readable | null;
  /** Renders the error that ends a started stream, if it depends on what was sent before. */
  readonly renderFailure?: ((error: GatewayError) => string) | undefined;
  /**
   * Text sent while the stream is idle, so that proxies keep the connection open; clients ignore it between chunks. Default: the text of the
   * client's format for event streams, none for other streams.
   */
  readonly keepAlive?: string | undefined;
  /** True if a stream has no content yet, so that the client gets the headers and a keep-alive immediately. */
  readonly isAwaited?: boolean | undefined;
  /** Headers that follow a complete stream, if the connection supports them. */
  readonly trailers?: Trailers | undefined;
}

/** Headers that are sent after the body. */
export interface Trailers {
  /** Lower-case names, announced before the body. */
  readonly names: readonly string[];
  /** Returns the trailers at the end of the body. It may omit some of the names. */
  read(): Readonly<Record<string, string>>;
}

/** Closes a body that will not be read. */
export function discard({ body }: Reply): void {
  if (body instanceof Readable) body.destroy();
}

/** Lets a stream fail before it is read. Without this, an `error` event without a listener would end the process. */
export function tolerateErrors({ body }: Reply): void {
  if (body instanceof Readable && !body.listeners('error').includes(ignoreError)) body.on('error', ignoreError);
}

function ignoreError(): void {}

/**
 * Returns the error of a stream that failed before it was sent; undefined while it is readable.
 *
 * @param source the reply that this one may wrap; its error counts, because a wrapper that listens too late misses it
 */
export function findBodyError({ body }: Reply, source: Reply): unknown {
  if (!(body instanceof Readable)) return undefined;
  if (source.body instanceof Readable && source.body.errored !== null) return source.body.errored;
  if (!body.destroyed || body.readableEnded) return undefined;
  return body.errored ?? createTruncatedReplyError();
}

/** Creates the error of a response that ended before it was complete. */
export function createTruncatedReplyError(): GatewayError {
  return new GatewayError('upstream_failed', 'The response was truncated.');
}

/**
 * Receives the body as sent to the client, chunk by chunk, without keep-alives. Set by a stage in `start`. It must not throw, and must copy
 * data that it stores, because a chunk may be a slice of a large buffer.
 */
export const replyListener = defineFact<(chunk: string | Buffer) => void>('reply_listener');
