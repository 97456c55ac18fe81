import { Readable } from 'node:stream';
import { GatewayError } from '#core/platform/errors/table.ts';
import { defineFact } from './fact.ts';

/** An answer on its way to the client. Status and headers are final once `leave` ran for every stage; nothing is sent before. */
export interface Reply {
  readonly status: number;
  /** Lower-case names. `content-length` is set by the host. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The whole body, or a stream of bytes (never in object mode). Each chunk of a `text/event-stream` contains whole events. A stream that
   * fails is destroyed with the error; the host then tells the client inside the stream, in its format.
   */
  readonly body: Buffer | string | Readable | null;
  /** Renders the error that ends a started stream, if it depends on what was sent before. */
  readonly renderFailure?: ((error: GatewayError) => string) | undefined;
  /**
   * Text sent while the stream is idle, so that proxies keep the connection; clients ignore it between chunks. Default: that of the
   * client's format for event streams, none for others.
   */
  readonly keepAlive?: string | undefined;
  /** True if a stream has no content yet: the client gets the headers and a keep-alive immediately. */
  readonly isAwaited?: boolean | undefined;
  /** Headers that follow a stream, if the connection supports them. */
  readonly trailers?: Trailers | undefined;
}

export interface Trailers {
  /** Lower-case names, announced before the body. */
  readonly names: readonly string[];
  /** Called at the end of the body. May omit some of the names. */
  read(): Readonly<Record<string, string>>;
}

/** Closes a body that will not be read. */
export function discard({ body }: Reply): void {
  if (body instanceof Readable) body.destroy();
}

/** Lets a stream fail before it is read: an `error` event without a listener ends the process. */
export function tolerateErrors({ body }: Reply): void {
  if (body instanceof Readable && !body.listeners('error').includes(ignore)) body.on('error', ignore);
}

function ignore(): void {}

/**
 * Returns the error of a stream that failed before it was sent; undefined while it is readable.
 *
 * @param source the reply that this one may wrap: a wrapper that listens too late misses its error
 */
export function bodyErrorOf({ body }: Reply, source: Reply): unknown {
  if (!(body instanceof Readable)) return undefined;
  if (source.body instanceof Readable && source.body.errored !== null) return source.body.errored;
  if (!body.destroyed || body.readableEnded) return undefined;
  return body.errored ?? new GatewayError('upstream_failed', 'The response was cut off.');
}

/**
 * Receives the body as sent to the client, chunk by chunk, without keep-alives. Set by a stage in `start`. It must not throw, and must copy
 * what it keeps, because a chunk may be a slice of a large buffer.
 */
export const replyListener = defineFact<(chunk: string | Buffer) => void>('reply_listener');
