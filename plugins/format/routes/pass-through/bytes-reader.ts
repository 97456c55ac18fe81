import type { ReplyReader, WholeReply } from '#core/gateway/model-call/adapter.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';

const none = Buffer.alloc(0);

/** Passes through the bytes of answers that are not JSON, such as audio or subtitles. The format's reader handles all others. */
export class BytesReader implements ReplyReader {
  readonly isBytes: (contentType: string) => boolean;
  readonly #json: ReplyReader;
  hasContent = false;
  progress = 0;
  readonly isComplete = false;
  readonly isFinished = false;
  readonly failure = undefined;

  /** @param json reads an answer that is unexpectedly JSON, such as an error with status 200 */
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

  /** Renders an error that cannot be appended to bytes: the connection is closed instead. */
  renderFailure(error: GatewayError): string {
    return this.#json.renderFailure(error);
  }
}
