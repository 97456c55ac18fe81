import type { Readable } from 'node:stream';
import type { GatewayError } from '../errors.ts';

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
}
