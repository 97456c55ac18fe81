import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { describeImage } from '../../../canonical/generated-images.ts';
import type { Block, BlockHead, CallHead, Citation, ImageBlock, Logprob } from '../../../canonical/reply.ts';
import { asList, parseInput } from '../../../wire/members.ts';
import type { ResponsesAnnotation, ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';
import { blockPartKinds, writeTextPart } from './text-parts.ts';

export type TextualBlock = Extract<Block, { type: keyof typeof blockPartKinds }>;

/** Clients check these prefixes. */
const idPrefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  tool_search_call: 'tsc',
  web_search_call: 'ws',
  image_generation_call: 'ig',
};

/** @param position the item's position, unique in the reply */
export function createItemId(type: string, exchangeId: string, position: number): string {
  return `${Object.hasOwn(idPrefixes, type) ? idPrefixes[type] : 'item'}_${exchangeId}_${position}`;
}

const itemTypes = {
  text: 'message',
  refusal: 'message',
  reasoning: 'reasoning',
  image: 'image_generation_call',
  function: 'function_call',
  freeform: 'custom_tool_call',
  tool_search: 'tool_search_call',
} as const;

/** The id is the same in streaming and non-streaming replies. */
export function createBlockItemId(exchangeId: string, index: number, block: BlockHead): string {
  return createItemId(itemTypes[block.type === 'tool_call' ? block.form : block.type], exchangeId, index);
}

/** Source: OpenAI API reference, "The response object". */
export function writeItem(id: string, block: Block): ResponsesItem {
  const status = 'completed';
  switch (block.type) {
    case 'text':
    case 'refusal':
      return writeMessage(id, status, [writePart(block)]);
    case 'reasoning': {
      const summary = block.text === '' ? [] : [writePart(block)];
      return { id, type: 'reasoning', summary, encrypted_content: block.state, status };
    }
    case 'tool_call':
      return writeCall(id, block, block.input, status);
    case 'image':
      return writeImage(id, block);
  }
}

export function writeOpenItem(id: string, head: BlockHead): ResponsesItem {
  if (head.type === 'tool_call') return writeCall(id, head, '', 'in_progress');
  if (head.type === 'reasoning') return { id, type: 'reasoning', summary: [], status: 'in_progress' };
  if (head.type === 'image') return { id, type: 'image_generation_call', status: 'in_progress', result: null };
  return writeMessage(id, 'in_progress', []);
}

function writeMessage(id: string, status: string, content: ResponsesPart[]): ResponsesItem {
  return { id, type: 'message', role: 'assistant', status, content };
}

function writeImage(id: string, { source }: ImageBlock): ResponsesItem {
  // The result of OpenAI's own tool must contain the data, so an image that has a URL becomes text.
  if (source.type === 'url')
    return writeMessage(id, 'completed', [writePart({ type: 'text', text: describeImage(source), citations: [] })]);
  const [, output_format = 'png'] = source.mediaType.split('/');
  return { id, type: 'image_generation_call', status: 'completed', output_format, result: source.data };
}

function writeCall(id: string, head: CallHead, input: string, status: string): ResponsesItem {
  const { name, namespace } = head;
  const group = namespace === undefined ? {} : { namespace };
  const call = { id, call_id: head.id };
  if (head.form === 'freeform') return { ...call, type: 'custom_tool_call', name, ...group, input, status };
  if (head.form === 'function') return { ...call, type: 'function_call', name, ...group, arguments: input, status };
  const searchInput = parseInput(input) ?? {};
  return { ...call, type: 'tool_search_call', execution: 'client', arguments: searchInput, status };
}

export function writePart(block: TextualBlock): ResponsesPart {
  const part = writeTextPart(blockPartKinds[block.type], block.text);
  if (block.type !== 'text') return part;
  return { ...part, annotations: block.citations.map(writeCitation), logprobs: writeLogprobs(block.logprobs) };
}

/** Bytes are required here; in Chat they are null for a token without text. */
export function writeLogprobs(logprobs: readonly Logprob[] = []): JsonObject[] {
  return logprobs.map((token) => ({
    ...token,
    bytes: token['bytes'] ?? [],
    top_logprobs: asList(token['top_logprobs'])
      .filter(isJsonObject)
      .map((top) => ({ ...top, bytes: top['bytes'] ?? [] })),
  }));
}

/** Offsets are required, so missing ones become zero. */
export function writeCitation({ url, title, start = 0, end = start }: Citation): ResponsesAnnotation {
  return { type: 'url_citation', url, title: title ?? url, start_index: start, end_index: end };
}
