import type { SentReader } from '#core/config/catalog/formats.ts';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import { bounds } from '#core/platform/bounds.ts';
import { isJsonObject, type JsonValue, parseJson } from '#core/platform/json.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import type { ReplyDecoder, UpstreamCodec } from '../canonical/codec.ts';
import type { Fragment } from '../canonical/reply.ts';
import { parseBody } from '../wire/members.ts';
import { ContentDigest } from './content-digest.ts';

/** Creates the readers for answers in the client's format that do not come from a route. */
export function createContentReaders({ createDecoder }: Pick<UpstreamCodec, 'createDecoder'>) {
  return (contentType: string): SentReader =>
    contentType.startsWith('text/event-stream')
      ? new StreamContentReader(createDecoder())
      : new WholeContentReader(createDecoder());
}

class StreamContentReader implements SentReader {
  readonly #decoder: ReplyDecoder;
  readonly #framer = new SseFramer();
  readonly #content = new ContentDigest();

  constructor(decoder: ReplyDecoder) {
    this.#decoder = decoder;
  }

  add(chunk: string | Buffer): void {
    // A framer over its limit would buffer all further data.
    if (this.#framer.isOverLimit) return;
    for (const { name, data } of this.#framer.push(Buffer.from(chunk)))
      if (data !== undefined) addFragments(this.#content, this.#decoder.readEvent(name, data));
  }

  digest(): string | undefined {
    return this.#framer.isOverLimit ? undefined : this.#content.digest;
  }
}

class WholeContentReader implements SentReader {
  readonly #decoder: ReplyDecoder;
  readonly #body = new CollectedBytes();

  constructor(decoder: ReplyDecoder) {
    this.#decoder = decoder;
  }

  add(chunk: string | Buffer): void {
    if (this.#body.size <= bounds.bufferedReply) this.#body.add(Buffer.from(chunk));
  }

  digest(): string | undefined {
    if (this.#body.size > bounds.bufferedReply) return undefined;
    const content = new ContentDigest();
    const text = this.#body.join().toString();
    addFragments(
      content,
      // Without `alt=sse`, a Gemini stream is a single array.
      text.trimStart().startsWith('[') ? this.#readEntries(text) : this.#decoder.readWhole(parseBody(text) ?? {}),
    );
    return content.digest;
  }

  #readEntries(text: string): readonly Fragment[] {
    const entries = parseJson(text) as JsonValue | undefined;
    if (!Array.isArray(entries)) return [];
    return entries.filter(isJsonObject).flatMap((entry) => this.#decoder.readEvent(undefined, JSON.stringify(entry)));
  }
}

function addFragments(content: ContentDigest, fragments: readonly Fragment[]): void {
  for (const fragment of fragments) content.addFragment(fragment);
}
