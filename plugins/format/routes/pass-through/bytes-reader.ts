import type { ReplyReader, WholeReply } from '#core/gateway/model-call/adapter.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';

const emptyBuffer = Buffer.alloc(0);

/** Passes through answers that are not JSON, such as audio or subtitles. All other answers are left to the format's reader. */
export class BytesReader implements ReplyReader {
  readonly isBytes: (contentType: string) => boolean;
  readonly #jsonReader: ReplyReader;
  hasContent = false;
  progress = 0;
  readonly isComplete = false;
  readonly isFinished = false;
  readonly failure = undefined;

  /** @param jsonReader reads an answer that is JSON after all, such as an error with status 200 */
  constructor(isBytes: (contentType: string) => boolean, jsonReader: ReplyReader) {
    this.isBytes = isBytes;
    this.#jsonReader = jsonReader;
  }

  get usage(): ReplyReader['usage'] {
    return this.#jsonReader.usage;
  }

  whole(body: Buffer, contentType: string): WholeReply {
    return this.#jsonReader.whole(body, contentType);
  }

  push(chunk: Buffer): Buffer {
    if (chunk.length > 0) this.hasContent = true;
    this.progress++;
    return chunk;
  }

  end(): Buffer {
    return emptyBuffer;
  }

  /** Only used for event streams. An error cannot be appended to other bytes, so the connection is closed instead. */
  renderFailure(error: GatewayError): string {
    return this.#jsonReader.renderFailure(error);
  }
}
