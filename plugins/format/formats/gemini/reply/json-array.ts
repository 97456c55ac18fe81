import { Readable } from 'node:stream';
import type { EntryFramer, EntryPiece } from '#core/config/catalog/reply-text.ts';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { parseExact } from '#core/gateway/model-call/exact-json.ts';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { discard, type Reply } from '#core/gateway/pipeline/reply.ts';
import { replyStreamOf } from '#core/gateway/pipeline/reply-stream.ts';
import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';

/** White space before the array and between its entries. */
const whiteSpace = '\n';

/**
 * Turns a streamed reply into one JSON array for clients without `alt=sse`. The array grows with every chunk and is closed
 * even after an error. Any other reply is returned unchanged.
 *
 * Source: Gemini API reference, "streamGenerateContent".
 */
export function asJsonArray(exchange: Exchange, reply: Reply): Reply {
  const isEventStream = reply.headers['content-type']?.startsWith('text/event-stream') === true;
  const isWanted = exchange.endpoint.name === 'stream_generate_content' && exchange.query.get('alt') !== 'sse';
  if (!isWanted || !isEventStream || reply.body === null) return reply;
  const headers = { ...reply.headers, 'content-type': 'application/json; charset=utf-8' };
  const writer = new ArrayWriter();
  if (!(reply.body instanceof Readable)) {
    return { ...reply, headers, body: writer.take(reply.body) + writer.end() };
  }
  const body = replyStreamOf(readArray(exchange, reply, reply.body, writer), () => discard(reply));
  return { ...reply, headers, body, keepAlive: whiteSpace };
}

async function* readArray(
  exchange: Exchange,
  reply: Reply,
  source: Readable,
  writer: ArrayWriter,
): AsyncGenerator<string> {
  try {
    for await (const chunk of source) {
      const written = writer.take(chunk as Buffer);
      if (written !== '') yield written;
    }
  } catch (thrown) {
    const error = toGatewayError(thrown);
    exchange.fail(error);
    yield writer.take(reply.renderFailure?.(error) ?? renderStreamError(error, exchange));
  }
  yield writer.end();
}

class ArrayWriter {
  readonly #framer = new SseFramer();
  #isOpen = false;

  take(chunk: Buffer | string): string {
    return this.#write(this.#framer.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  }

  end(): string {
    return this.#write(this.#framer.end()) + (this.#isOpen ? ']' : '[]');
  }

  #write(events: readonly StreamEvent[]): string {
    let written = '';
    for (const { data } of events) {
      if (data === undefined) continue;
      written += `${this.#isOpen ? ',\r\n' : '['}${data}`;
      this.#isOpen = true;
    }
    return written;
  }
}

/** Reads a JSON array of objects that grows chunk by chunk: `[{…}`, `,{…}`, `]`. */
export class JsonArrayFramer implements EntryFramer {
  #pending = '';

  push(chunk: string): EntryPiece {
    this.#pending += chunk;
    const text = this.#pending;
    const begin = text.search(/[^[,\s]|$/);
    const end = endOfEntries(text, begin);
    const entries = begin === end ? [] : parseEntries(text.slice(begin, end));
    if (entries === undefined) {
      if (text.length > bounds.event)
        throw new GatewayError('upstream_failed', 'An entry of the response is too large.');
      return { before: '', entries: [], after: '' };
    }
    this.#pending = '';
    return { before: text.slice(0, begin), entries, after: text.slice(end) };
  }
}

/** Avoids a regular expression, which would start again at each bracket or space in a text. */
function endOfEntries(text: string, begin: number): number {
  let end = text.length;
  while (end > begin && /[\]\s]/.test(text.charAt(end - 1))) end--;
  return end;
}

function parseEntries(text: string): readonly JsonObject[] | undefined {
  try {
    return parseExact(`[${text}]`) as JsonObject[];
  } catch {
    return undefined;
  }
}
