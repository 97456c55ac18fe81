import { Readable } from 'node:stream';
import type { EntryFramer, EntryPiece } from '#core/config/catalog/reply-text.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { parseExact } from '#core/gateway/model-call/exact-json.ts';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import { createReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import { discard, type Reply } from '#core/gateway/pipeline/reply.ts';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';

const keepAliveSpace = '\n';

/**
 * Turns a streamed reply into a single JSON array, for clients that do not send `alt=sse`. The array grows with every chunk. An error
 * becomes the last entry, and the array is then not closed. Returns any other reply unchanged.
 *
 * Source: Gemini API reference, "streamGenerateContent".
 */
export function asJsonArray(exchange: Exchange, reply: Reply): Reply {
  const isEventStream = reply.headers['content-type']?.startsWith('text/event-stream') === true;
  const wantsArray = exchange.endpoint.name === 'stream_generate_content' && exchange.query.get('alt') !== 'sse';
  if (!wantsArray || !isEventStream || reply.body === null) return reply;
  const headers = { ...reply.headers, 'content-type': 'application/json; charset=utf-8' };
  const writer = new ArrayWriter();
  if (!(reply.body instanceof Readable)) {
    return { ...reply, headers, body: writer.convert(reply.body) + writer.end() };
  }
  const body = createReplyStream(streamArray(exchange, reply, reply.body, writer), () => discard(reply));
  return { ...reply, headers, body, keepAlive: keepAliveSpace };
}

async function* streamArray(
  exchange: Exchange,
  reply: Reply,
  source: Readable,
  writer: ArrayWriter,
): AsyncGenerator<string> {
  try {
    for await (const chunk of source) {
      const text = writer.convert(chunk as Buffer);
      if (text !== '') yield text;
    }
  } catch (thrown) {
    const error = toGatewayError(thrown);
    yield writer.convert(reply.renderFailure?.(error) ?? renderStreamError(error, exchange));
    throw error;
  }
  yield writer.end();
}

class ArrayWriter {
  readonly #framer = new SseFramer();
  #isOpen = false;

  convert(chunk: Buffer | string): string {
    return this.#write(this.#framer.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  }

  end(): string {
    return this.#write(this.#framer.end()) + (this.#isOpen ? ']' : '[]');
  }

  #write(events: readonly StreamEvent[]): string {
    let text = '';
    for (const { data } of events) {
      if (data === undefined) continue;
      text += `${this.#isOpen ? ',\r\n' : '['}${data}`;
      this.#isOpen = true;
    }
    return text;
  }
}

/** Reads a JSON array of objects that grows chunk by chunk: `[{…}`, `,{…}`, `]`. */
export class JsonArrayFramer implements EntryFramer {
  #pending = '';

  push(chunk: string): EntryPiece {
    this.#pending += chunk;
    const text = this.#pending;
    const start = text.search(/[^[,\s]|$/);
    const end = findEntriesEnd(text, start);
    const entries = start === end ? [] : parseEntries(text.slice(start, end));
    if (entries === undefined) {
      if (text.length > bounds.event)
        throw new GatewayError('upstream_failed', 'An entry of the response is too large.');
      return { before: '', entries: [], after: '' };
    }
    this.#pending = '';
    return { before: text.slice(0, start), entries, after: text.slice(end) };
  }
}

function findEntriesEnd(text: string, start: number): number {
  let end = text.length;
  // A regular expression would retry at every space within a text.
  while (end > start && /[\]\s]/.test(text.charAt(end - 1))) end--;
  return end;
}

function parseEntries(text: string): readonly JsonObject[] | undefined {
  try {
    return parseExact(`[${text}]`) as JsonObject[];
  } catch {
    return undefined;
  }
}
