import { Readable } from 'node:stream';
import { bounds } from '#core/platform/bounds.ts';

interface ReplyStreamOptions {
  /** Called when the reader requests more. */
  readonly read: () => void;
  /** Called at the end of the stream: read, truncated, or abandoned by its reader. */
  readonly close: () => void;
}

/**
 * The body of a streamed reply. A Node stream discards its buffer when it is destroyed; here an error follows everything that
 * was pushed before it, and only once the stream is read: content and error may arrive in one packet, and an error without a
 * listener would end the process.
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

  /** Ends the stream with an error once its buffer has been read. */
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
 * A reply body from a generator. An error that the generator throws follows everything that it has yielded.
 *
 * @param abandon ends the generator's wait when the reader has left. Without it, the generator returns, and the
 *   stream closes, only after its current wait.
 */
export function replyStreamOf(chunks: AsyncIterable<Buffer | string>, abandon: () => void = () => undefined): Readable {
  // With a higher water mark, an error would discard the chunks that are buffered here.
  const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 1 });
  const returnGenerator = stream._destroy;
  stream._destroy = (error, done) => {
    abandon();
    returnGenerator.call(stream, error, done);
  };
  return stream;
}
