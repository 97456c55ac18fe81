import type { ResponsesPart } from '../../../wire/responses.ts';

/** A kind of part whose text is streamed: the names of its events and the member that holds the text. */
export interface TextPartKind {
  readonly type: string;
  readonly fragmentType: 'text' | 'refusal' | 'reasoning';
  /** Names of the text's events, without `.delta` and `.done`. */
  readonly events: string;
  /** Events about the part itself, without `.added` and `.done`. */
  readonly partEvents: string;
  readonly member: 'text' | 'refusal';
  readonly list: 'content' | 'summary';
  readonly index: 'content_index' | 'summary_index';
}

function defineContentPart(
  type: string,
  fragmentType: TextPartKind['fragmentType'],
  member: TextPartKind['member'] = 'text',
): TextPartKind {
  const location = { partEvents: 'response.content_part', list: 'content', index: 'content_index' } as const;
  return { type, fragmentType, events: `response.${type}`, member, ...location };
}

const outputText = defineContentPart('output_text', 'text');
const refusal = defineContentPart('refusal', 'refusal', 'refusal');
const reasoningText = defineContentPart('reasoning_text', 'reasoning');
const summaryText: TextPartKind = {
  type: 'summary_text',
  fragmentType: 'reasoning',
  events: 'response.reasoning_summary_text',
  partEvents: 'response.reasoning_summary_part',
  member: 'text',
  list: 'summary',
  index: 'summary_index',
};
const partKinds = [outputText, refusal, reasoningText, summaryText];
export const blockPartKinds = { text: outputText, refusal, reasoning: summaryText } as const;
const kindsByType = new Map(partKinds.map((part) => [part.type, part]));
const kindsByName = [
  ...partKinds.map((part) => [part.events, part] as const),
  ['response.reasoning', reasoningText] as const, // some vendors' name for `response.reasoning_text`
];
const kindsByEvent = new Map(
  kindsByName.flatMap(([name, part]) => ['delta', 'done'].map((end) => [`${name}.${end}`, part])),
);

/** Returns undefined for parts without text. */
export function findPartKind(type: unknown): TextPartKind | undefined {
  return typeof type === 'string' ? kindsByType.get(type) : undefined;
}

/** Returns undefined for events that carry no text. */
export function findEventPartKind(type: string): TextPartKind | undefined {
  return kindsByEvent.get(type);
}

export function writeTextPart({ type, member }: TextPartKind, text: string): ResponsesPart {
  return { type, [member]: text, ...(type === 'output_text' && { annotations: [], logprobs: [] }) };
}
