import { Readable } from 'node:stream';
import { bounds } from '#core/platform/bounds.ts';

interface ReplyStreamOptions {
  /** Called when the reader requests more. */
  readonly read: () => void;
  /** Called when the stream ends: read, truncated, or abandoned by its reader. */
  readonly close: () => void;
}

/**
 * Body of a streamed reply. Node streams discard their buffer when destroyed; here an error follows everything pushed before it, and only
 * once the stream is read: content and error may arrive in one packet, and an error without a listener would end the process.
 */
export class ReplyStream extends Readable {
  #error: Error | undefined;

  constructor({ read, close }: ReplyStreamOptions) {
    super({
      highWaterMark: bounds.slowReader,
      read,
      destroy: (error, done) => {
        close();
        done(error);
      },
    });
  }

  /** Ends the stream with an error once its buffer is read. */
  breakOff(error: Error): void {
    this.#error = error;
    const isRead = this.readableFlowing !== null || this.listenerCount('readable') > 0;
    if (isRead && this.readableLength === 0) this.destroy(error);
  }

  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
    if (this.#error !== undefined && this.readableLength === 0) this.destroy(this.#error);
    return chunk;
  }
}

/**
 * Creates a reply body from a generator. An error thrown by the generator follows everything it yielded.
 *
 * @param abandon ends the generator's wait when the reader is gone. Without it, the generator returns and the stream closes only after the
 * current wait.
 */
export function replyStreamOf(chunks: AsyncIterable<Buffer | string>, abandon: () => void = () => undefined): Readable {
  // With a higher water mark, an error would discard the chunks buffered here.
  const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 1 });
  const returnGenerator = stream._destroy;
  stream._destroy = (error, done) => {
    abandon();
    returnGenerator.call(stream, error, done);
  };
  return stream;
}
