import type { ResponsesPart } from '../../../wire/responses.ts';

/** A kind of part whose text is streamed: the names of its events and the member with the text. */
export interface StreamedText {
  readonly type: string;
  readonly says: 'text' | 'refusal' | 'reasoning';
  /** Names of its events, without `.delta` and `.done`. */
  readonly events: string;
  /** Names of the events about the part itself, without `.added` and `.done`. */
  readonly partEvents: string;
  readonly member: 'text' | 'refusal';
  readonly list: 'content' | 'summary';
  readonly index: 'content_index' | 'summary_index';
}

function contentPart(type: string, says: StreamedText['says'], member: StreamedText['member'] = 'text'): StreamedText {
  const place = { partEvents: 'response.content_part', list: 'content', index: 'content_index' } as const;
  return { type, says, events: `response.${type}`, member, ...place };
}

const outputText = contentPart('output_text', 'text');
const refusal = contentPart('refusal', 'refusal', 'refusal');
const reasoningText = contentPart('reasoning_text', 'reasoning');
const summaryText: StreamedText = {
  type: 'summary_text',
  says: 'reasoning',
  events: 'response.reasoning_summary_text',
  partEvents: 'response.reasoning_summary_part',
  member: 'text',
  list: 'summary',
  index: 'summary_index',
};
const textParts = [outputText, refusal, reasoningText, summaryText];
/** The kind of part that the gateway writes for a block. */
export const writtenParts = { text: outputText, refusal, reasoning: summaryText } as const;
const byType = new Map(textParts.map((part) => [part.type, part]));
/** Some vendors use another name for `response.reasoning_text`. */
const byName = [
  ...textParts.map((part) => [part.events, part] as const),
  ['response.reasoning', reasoningText] as const,
];
const byEvent = new Map(byName.flatMap(([name, part]) => ['delta', 'done'].map((end) => [`${name}.${end}`, part])));

/** Undefined for a part without a text. */
export function textPartOf(type: unknown): StreamedText | undefined {
  return typeof type === 'string' ? byType.get(type) : undefined;
}

/** The kind of part whose text an event carries; undefined for any other event. */
export function textPartOfEvent(type: string): StreamedText | undefined {
  return byEvent.get(type);
}

/** A part with this text. */
export function writeTextPart({ type, member }: StreamedText, text: string): ResponsesPart {
  return { type, [member]: text, ...(type === 'output_text' && { annotations: [], logprobs: [] }) };
}
