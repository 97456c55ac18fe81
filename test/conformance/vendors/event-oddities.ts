import type { JsonObject } from '#core/platform/json.ts';
import { compact, isObject, objectOf, objectsOf, omit, textOf } from '../conversation.ts';
import type { Oddity } from './vendor.ts';

/*
 * How answers of Messages and Responses endpoints deviate.
 */

/** Thinking without a signature. */
export const unsigned: Oddity = {
  whole: (reply) => ({ ...reply, content: objectsOf(reply['content']).map(withoutSignature) }),
  events: (events) =>
    events
      .filter((event) => objectOf(event['delta'])['type'] !== 'signature_delta')
      .map((event) =>
        isObject(event['content_block'])
          ? { ...event, content_block: withoutSignature(event['content_block']) }
          : event,
      ),
};

function withoutSignature(block: JsonObject): JsonObject {
  return omit(block, 'signature');
}

/** Thinking with an empty signature. */
export const emptySignature: Oddity = {
  whole: (reply) => ({ ...reply, content: objectsOf(reply['content']).map(withEmptySignature) }),
  events: (events) => events.filter((event) => objectOf(event['delta'])['type'] !== 'signature_delta'),
};

function withEmptySignature(block: JsonObject): JsonObject {
  return block['type'] === 'thinking' ? { ...block, signature: '' } : block;
}

/** The stream ends after `message_delta`. */
export const noMessageStop: Oddity = { events: (events) => events.filter(({ type }) => type !== 'message_stop') };

/** The message starts without counts; they come with its end. */
export const noFirstUsage: Oddity = {
  events: (events) =>
    events.map((event) => {
      if (event['type'] !== 'message_start') return event;
      const message = { ...objectOf(event['message']), usage: { input_tokens: 0, output_tokens: 0 } };
      return { ...event, message };
    }),
};

/** Omits the events that repeat what others contain. */
export const noItemEvents: Oddity = {
  events: (events) =>
    renumbered(
      events.filter(({ type }) => !/output_item|content_part|summary_part|_text\.done|in_progress/.test(textOf(type))),
    ),
};

/** The last event has no output. */
export const emptyOutput: Oddity = {
  events: (events) =>
    events.map((event) =>
      event['type'] === 'response.completed'
        ? { ...event, response: { ...objectOf(event['response']), output: [] } }
        : event,
    ),
};

/** Deltas have neither the id nor the position of their item. */
export const noPlaces: Oddity = {
  events: (events) =>
    events.map((event) => {
      if (!textOf(event['type']).endsWith('.delta')) return event;
      return omit(event, 'item_id', 'output_index', 'content_index');
    }),
};

/** Reasoning is content, not a summary, with event types that the SDK does not know. Source: vLLM, "Responses API". */
export const reasoningContent: Oddity = {
  whole: (reply) => ({ ...reply, output: objectsOf(reply['output']).map(withContent) }),
  events: (events) =>
    events.map((event) => {
      const { summary_index: index, ...members } = event;
      const type = textOf(event['type']).replace('reasoning_summary', 'reasoning');
      const part = { type: 'reasoning_text', text: textOf(objectOf(event['part'])['text']) };
      if (index !== undefined) return { ...members, type, content_index: index, ...('part' in event && { part }) };
      if (isObject(event['item'])) return { ...event, item: withContent(event['item']) };
      const response = objectOf(event['response']);
      const output = objectsOf(response['output']).map(withContent);
      return isObject(event['response']) ? { ...event, response: { ...response, output } } : event;
    }),
};

function withContent(item: JsonObject): JsonObject {
  if (item['type'] !== 'reasoning') return item;
  const content = objectsOf(item['summary']).map(({ text }) => ({ type: 'reasoning_text', text }));
  return { ...omit(item, 'encrypted_content'), summary: [], content };
}

/** Responses repeat few of the members of their request. */
export const fewMembers: Oddity = {
  whole: bareResponse,
  events: (events) =>
    events.map((event) =>
      isObject(event['response']) ? { ...event, response: bareResponse(event['response']) } : event,
    ),
};

function bareResponse({
  id,
  object,
  created_at,
  status,
  model,
  output,
  usage,
  error,
  incomplete_details,
}: JsonObject): JsonObject {
  return compact({ id, object, created_at, status, model, output, usage, error, incomplete_details });
}

function renumbered(events: readonly JsonObject[]): JsonObject[] {
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}
