import type { ReplyReader, WholeReply } from '#core/gateway/model-call/adapter.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';

const none = Buffer.alloc(0);

/** Passes an answer that is not JSON as bytes, such as audio or subtitles, and leaves any other to the reader of its format. */
export class BytesReader implements ReplyReader {
  readonly isBytes: (contentType: string) => boolean;
  readonly #json: ReplyReader;
  hasContent = false;
  progress = 0;
  readonly isComplete = false;
  readonly isFinished = false;
  readonly failure = undefined;

  /** @param json reads an answer that is JSON in spite of the request, such as an error with status 200 */
  constructor(isBytes: (contentType: string) => boolean, json: ReplyReader) {
    this.isBytes = isBytes;
    this.#json = json;
  }

  get usage(): ReplyReader['usage'] {
    return this.#json.usage;
  }

  whole(body: Buffer, contentType: string): WholeReply {
    return this.#json.whole(body, contentType);
  }

  push(chunk: Buffer): Buffer {
    if (chunk.length > 0) this.hasContent = true;
    this.progress++;
    return chunk;
  }

  end(): Buffer {
    return none;
  }

  /** Bytes have no place for an error: the connection is closed instead. */
  renderFailure(error: GatewayError): string {
    return this.#json.renderFailure(error);
  }
}
