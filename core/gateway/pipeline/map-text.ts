import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { EntryFramer, ObjectEvent, ReplyText, TextBlocks } from '#core/config/catalog/reply-text.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { parseExact } from '../model-call/exact-json.ts';
import { SseFramer } from '../model-call/sse-framer.ts';
import type { Exchange } from './exchange.ts';
import { type BodyTransform, collectBody, mapBody } from './map-body.ts';
import type { Reply } from './reply.ts';
import { MappedBlocks, type TextMap } from './text-mapper.ts';

/**
 * Changes the text of a reply in the client's format, streaming or not; for use in `leave`. A function gets whole words; for a stream, it
 * is called whenever more words are complete. To match across words, pass `{ create }`, which returns a `TextMapper` for each text. A
 * mapper may buffer as much text as it needs.
 *
 * Reasoning, tool calls, errors, and replies of endpoints that call no model are not changed.
 */
export function mapText(exchange: Exchange, reply: Reply, map: TextMap): Reply | Promise<Reply> {
  const texts = exchange.format?.replyText;
  if (texts === undefined || reply.status >= 300 || reply.body === null) return reply;
  const type = reply.headers['content-type'] ?? '';
  const blocks = new MappedBlocks(map);
  if (type.startsWith('text/event-stream')) return mapBody(reply, (chunks) => mapEvents(chunks, texts, blocks));
  if (!type.startsWith('application/json')) return reply;
  const framer = reply.body instanceof Readable ? texts.frameArray?.() : undefined;
  return mapBody(reply, (chunks) =>
    framer ? mapEntries(chunks, texts, blocks, framer) : mapWhole(chunks, texts, blocks),
  );
}

type Chunks = Parameters<BodyTransform>[0];

async function* mapWhole(chunks: Chunks, texts: ReplyText, blocks: TextBlocks): AsyncGenerator<string> {
  const value = parseExact((await collectBody(chunks)).toString());
  // Without `alt=sse`, Gemini streams one JSON array.
  if (Array.isArray(value)) {
    const map = texts.mapEvents(blocks);
    yield `[${value.map((entry) => mapEntry(entry as JsonObject, map)).join(',')}]`;
    return;
  }
  if (isJsonObject(value)) texts.mapReply(value, blocks);
  yield JSON.stringify(value);
}

async function* mapEvents(chunks: Chunks, texts: ReplyText, blocks: TextBlocks): AsyncGenerator<Buffer | string> {
  const framer = new SseFramer();
  const map = texts.mapEvents(blocks);
  for await (const chunk of chunks) {
    let output = '';
    for (const event of framer.push(chunk)) {
      const data = event.data?.startsWith('{') === true ? parseExact(event.data) : undefined;
      const mappedEvents = isJsonObject(data) ? map({ name: event.name, data }) : undefined;
      output += mappedEvents === undefined ? event.text : mappedEvents.map(encodeEvent).join('');
    }
    if (output !== '') yield output;
  }
  for (const event of framer.end()) yield event.text;
}

async function* mapEntries(
  chunks: Chunks,
  texts: ReplyText,
  blocks: TextBlocks,
  framer: EntryFramer,
): AsyncGenerator<string> {
  const map = texts.mapEvents(blocks);
  const decoder = new StringDecoder();
  for await (const chunk of chunks) {
    const { before, entries, after } = framer.push(decoder.write(chunk));
    yield before + entries.map((entry) => mapEntry(entry, map)).join(',\r\n') + after;
  }
}

function mapEntry(entry: JsonObject, map: ReturnType<ReplyText['mapEvents']>): string {
  const mappedEvents = map({ name: undefined, data: entry }) ?? [{ data: entry }];
  return mappedEvents.map(({ data }) => JSON.stringify(data)).join(',\r\n');
}

function encodeEvent({ name, data }: ObjectEvent): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}
