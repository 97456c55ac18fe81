import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { parseExact } from '../model-call/exact-json.ts';
import { SseFramer } from '../model-call/sse-framer.ts';
import type { Exchange } from './exchange.ts';
import { type BodyTransform, mapBody } from './map-body.ts';
import type { Reply } from './reply.ts';
import type { EntryFramer, ObjectEvent, ReplyText, TextBlocks } from '#core/config/catalog/reply-text.ts';
import { MappedBlocks, type TextMap } from './text-mapper.ts';

/**
 * Changes the text of an answer in the client's format, streamed or whole; for `leave`. A function gets whole words; for a stream, it is
 * called whenever more words are complete. For longer matches pass `{ create }`, which returns a `TextMapper` for each text and may hold
 * back as much as needed.
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
  const collected = new CollectedBytes();
  for await (const chunk of chunks) {
    collected.add(chunk);
    if (collected.size > bounds.wholeReply) throw new GatewayError('internal_error', 'The response is too large.');
  }
  const value = parseExact(collected.take().toString());
  const map = texts.mapEvents(blocks);
  // Without `alt=sse`, Gemini streams one JSON array.
  if (Array.isArray(value)) yield `[${value.map((entry) => mapEntry(entry as JsonObject, map)).join(',')}]`;
  else {
    if (isJsonObject(value)) texts.mapReply(value, blocks);
    yield JSON.stringify(value);
  }
}

async function* mapEvents(chunks: Chunks, texts: ReplyText, blocks: TextBlocks): AsyncGenerator<Buffer | string> {
  const framer = new SseFramer();
  const map = texts.mapEvents(blocks);
  for await (const chunk of chunks) {
    let written = '';
    for (const event of framer.push(chunk)) {
      const data = event.data?.startsWith('{') === true ? parseExact(event.data) : undefined;
      const mapped = isJsonObject(data) ? map({ name: event.name, data }) : undefined;
      written += mapped === undefined ? event.text : mapped.map(writeEvent).join('');
    }
    if (written !== '') yield written;
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
  const mapped = map({ name: undefined, data: entry }) ?? [{ data: entry }];
  return mapped.map(({ data }) => JSON.stringify(data)).join(',\r\n');
}

function writeEvent({ name, data }: ObjectEvent): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}
