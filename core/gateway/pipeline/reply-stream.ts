import { Readable } from 'node:stream';
import { bounds } from '#core/platform/bounds.ts';

interface ReplyStreamOptions {
  readonly read: () => void;
  readonly close: () => void; // when the stream ends, is truncated, or is abandoned by its reader
}

/**
 * Body of a streaming reply. Node streams discard their buffer when destroyed, but content and an error may arrive in one packet. Here an
 * error is raised after everything pushed before it, and only while the stream is being read, because an error without a listener
 * would end the process.
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

  /** Ends the stream with an error as soon as its buffer has been read. */
  endWithError(error: Error): void {
    this.#error = error;
    const isBeingRead = this.readableFlowing !== null || this.listenerCount('readable') > 0;
    if (isBeingRead && this.readableLength === 0) this.destroy(error);
  }

  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
    if (this.#error !== undefined && this.readableLength === 0) this.destroy(this.#error);
    return chunk;
  }
}

/**
 * Creates a reply body from a generator. An error thrown by the generator is raised after all chunks that it yielded.
 *
 * @param abandon ends the generator's wait when the reader is gone; without it, the stream closes only after the current wait
 */
export function createReplyStream(
  chunks: AsyncIterable<Buffer | string>,
  abandon: () => void = () => undefined,
): Readable {
  // With a higher water mark, an error would discard the chunks buffered here.
  const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 1 });
  const destroyGenerator = stream._destroy;
  stream._destroy = (error, done) => {
    abandon();
    destroyGenerator.call(stream, error, done);
  };
  return stream;
}
