import { Readable } from 'node:stream';
import { bounds } from '#core/platform/bounds.ts';

export interface ReplyStreamOptions {
  /** Called when the reader requests more. */
  readonly read: () => void;
  /** The stream is over: read to its end, broken off, or left by its reader. */
  readonly close: () => void;
}

/**
 * The body of a streamed reply. Node throws away what waits in a stream when it is destroyed; here an error comes after
 * everything that was pushed before it, and only when the stream is read: content and error may arrive in one packet, and an
 * error without a listener would end the process.
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

  /** Ends the stream with an error once all that waits has been read. */
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
 * A reply body made by a generator. What the generator throws comes after what it has yielded.
 *
 * @param abandon ends what the generator waits for, when the reader has gone. A generator hears of it only once the wait
 *   that it is in is over, and until then the stream is not closed either.
 */
export function replyStreamOf(chunks: AsyncIterable<Buffer | string>, abandon: () => void = () => undefined): Readable {
  // With a larger mark chunks would wait here, to be thrown away by the error that follows them.
  const stream = Readable.from(chunks, { objectMode: false, highWaterMark: 1 });
  const returnGenerator = stream._destroy;
  stream._destroy = (error, done) => {
    abandon();
    returnGenerator.call(stream, error, done);
  };
  return stream;
}
