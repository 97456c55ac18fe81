import { Readable } from 'node:stream';
import { GatewayError } from '../errors/table.ts';

/**
 * An answer on its way to the client. Status and headers are final once `leave` has run for every stage; until then
 * nothing has been sent.
 */
export interface Reply {
  readonly status: number;
  /** Lower case names. `content-length` is set by the host. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The whole body, or a stream of bytes (never in object mode). A stream whose content type is `text/event-stream`
   * delivers whole events in each chunk. A stream that fails is destroyed with the error: the host then tells the
   * client in band, in its own format.
   */
  readonly body: Buffer | string | Readable | null;
  /** Writes the error that ends a stream already begun, where that takes knowledge of what was sent before. */
  readonly renderFailure?: ((error: GatewayError) => string) | undefined;
  /**
   * What keeps a silent stream alive on the way and means nothing between its chunks. Event streams have that of the
   * client's format when it is left out, others nothing.
   */
  readonly keepAlive?: string | undefined;
  /** True when nothing of a stream is there yet: its client gets the headers and a first keep-alive at once. */
  readonly isAwaited?: boolean | undefined;
  /** Headers that follow a stream, where the connection can carry them. */
  readonly trailers?: Trailers | undefined;
}

export interface Trailers {
  /** Lower case; announced before the body. */
  readonly names: readonly string[];
  /** Asked when all of the body is there. May leave some out. */
  read(): Readonly<Record<string, string>>;
}

/** Closes a body that nobody is going to read. */
export function discard({ body }: Reply): void {
  if (body instanceof Readable) body.destroy();
}

/** Lets a stream break before anybody reads it: an `error` that nobody listens for ends the process. */
export function tolerateErrors({ body }: Reply): void {
  if (body instanceof Readable && !body.listeners('error').includes(ignore)) body.on('error', ignore);
}

function ignore(): void {}

/**
 * What has broken a stream that nobody has sent yet; undefined while it can be read.
 *
 * @param source the reply that this one may pass on: who began to listen too late does not know that it has broken
 */
export function breakOf({ body }: Reply, source: Reply): unknown {
  if (!(body instanceof Readable)) return undefined;
  if (source.body instanceof Readable && source.body.errored !== null) return source.body.errored;
  if (!body.destroyed || body.readableEnded) return undefined;
  return body.errored ?? new GatewayError('upstream_failed', 'the answer was cut');
}
