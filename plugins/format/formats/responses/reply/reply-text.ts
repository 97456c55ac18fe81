import type { ObjectEvent, ReplyText, TextBlocks } from '#core/config/catalog/reply-text.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Editable } from '../../../wire/loose.ts';
import { readMember, scalarToText } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesPart, ResponsesReply } from '../../../wire/responses.ts';

const textMemberByPartType: Readonly<Record<string, 'text' | 'refusal'>> = { output_text: 'text', refusal: 'refusal' };
const textEventPattern = /^response\.(output_text|refusal)\.(delta|done)$/;

/**
 * Maps the text parts of messages in place. A text is sent in deltas and then up to four times in full: when the text, its part, its item
 * and the response are done. Text that was held back is sent as a delta before the first of these, and later events are renumbered.
 */
export const responsesReplyText: ReplyText = {
  mapReply: (reply, blocks) => mapOutput(readMember<ResponsesReply>(reply, 'output'), blocks),
  mapEvents: (blocks) => {
    let insertedCount = 0;
    return (event) => {
      const data: Editable<ResponsesEvent> = event.data;
      const insertedEvents = mapEvent(data, blocks);
      const number = data.sequence_number;
      if (typeof number !== 'number') return [...insertedEvents, event];
      for (const inserted of insertedEvents) setSequenceNumber(inserted.data, number + insertedCount++);
      setSequenceNumber(data, number + insertedCount);
      return [...insertedEvents, event];
    };
  },
};

function setSequenceNumber(event: Editable<ResponsesEvent>, number: number): void {
  event.sequence_number = number;
}

/** Maps in place. Returns the events to insert before it. */
function mapEvent(data: ResponsesEvent, blocks: TextBlocks): ObjectEvent[] {
  const { type, part, item, response } = data;
  const [, kind = '', phase] = textEventPattern.exec(scalarToText(type)) ?? [];
  const block = `${scalarToText(data.output_index)}/${scalarToText(data.content_index)}`;
  if (phase === 'delta') mapDelta(data, block, blocks);
  if (phase === 'done') return endText(data, block, kind, blocks);
  if (type === 'response.content_part.done' && isJsonObject(part)) setText(part, block, blocks);
  if (type === 'response.output_item.done') mapItem(item, scalarToText(data.output_index), blocks);
  if (isJsonObject(response)) mapOutput(readMember<ResponsesReply>(response, 'output'), blocks);
  return [];
}

function mapDelta(data: Editable<ResponsesEvent>, block: string, blocks: TextBlocks): void {
  const { delta } = data;
  if (typeof delta !== 'string') return;
  data.delta = blocks.push(block, delta);
  if (data.delta !== delta && Array.isArray(data.logprobs)) data.logprobs = [];
}

function endText(data: ResponsesEvent, block: string, kind: string, blocks: TextBlocks): ObjectEvent[] {
  const heldText = blocks.end(block);
  const { item_id: id, output_index: output, content_index: content, sequence_number: number } = data;
  setText(data, block, blocks, kind);
  if (heldText === '') return [];
  const type = `response.${kind}.delta`;
  const delta: ResponsesEvent = {
    type,
    item_id: id,
    output_index: output,
    content_index: content,
    delta: heldText,
    sequence_number: number,
  };
  return [{ name: type, data: kind === 'output_text' ? { ...delta, logprobs: [] } : delta }];
}

function mapOutput(output: JsonValue | undefined, blocks: TextBlocks): void {
  if (Array.isArray(output)) for (const [index, item] of output.entries()) mapItem(item, String(index), blocks);
}

function mapItem(item: JsonValue | undefined, index: string, blocks: TextBlocks): void {
  const { type, content }: ResponsesItem = isJsonObject(item) ? item : {};
  if (type !== 'message' || !Array.isArray(content)) return;
  for (const [position, part] of content.entries()) {
    if (isJsonObject(part)) setText(part, `${index}/${position}`, blocks);
  }
}

function setText(
  holder: Editable<ResponsesPart & ResponsesEvent>,
  block: string,
  blocks: TextBlocks,
  kind = scalarToText(holder.type),
): void {
  const name = textMemberByPartType[kind];
  const text = name === undefined ? undefined : holder[name];
  if (name === undefined || typeof text !== 'string' || text === '') return;
  const streamed = blocks.total(block);
  // Replaces a streamed text with the text that the client has received.
  holder[name] = streamed === '' ? blocks.push(block, text) + blocks.end(block) : streamed;
  if (holder[name] !== text && Array.isArray(holder.logprobs)) holder.logprobs = [];
}
