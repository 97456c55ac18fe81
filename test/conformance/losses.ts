import type { ModelFeature } from '#core/config/catalog/abilities.ts';
import type { TextFormat, UpstreamTextFormat } from '../support/formats.ts';
import type { Ask, ClientAnswer, PlainEntry, Tool } from './conversation.ts';

/** A request as the upstream must understand it, without echoes. */
export interface UpstreamAsk extends Omit<Ask, 'entries'> {
  readonly entries: readonly PlainEntry[];
}

/** What a pair of formats cannot express, and what happens instead. */
export interface Loss {
  readonly name: string;
  readonly feature: string | readonly string[];
  /** The column of `daypass check` with this loss; undefined when it has none for the feature. */
  readonly checked?: ModelFeature;
  happens(client: TextFormat, upstream: UpstreamTextFormat): boolean;
  /** What the upstream receives instead. @param turn counts from 0 */
  atUpstream?(received: UpstreamAsk, turn: number, upstream: UpstreamTextFormat): UpstreamAsk;
  /** What the client receives instead. */
  atClient?(received: ClientAnswer): ClientAnswer;
  /** The client's note about it; undefined when only the reply shows it. */
  readonly note?: RegExp;
  /** True where the gateway refuses the request, because the upstream would. */
  readonly isRefused?: boolean;
  /** True for a loss that depends on circumstances: here the feature works. */
  readonly isCondition?: boolean;
}

/** The only accepted losses. Any other is a failure, and so is a listed one that does not happen. */
export const losses: readonly Loss[] = [
  {
    name: 'the grammar of freeform tools is described, not enforced',
    feature: 'freeform tool',
    checked: 'tools',
    happens: (client, upstream) =>
      (client === 'chat' || client === 'responses') && ['messages', 'gemini', 'ollama'].includes(upstream),
    atUpstream: (received) => ({
      ...received,
      ...(received.tools && {
        tools: received.tools.map((tool) => (tool.grammar === undefined ? tool : asFunction(tool))),
      }),
      entries: received.entries.map((entry) =>
        entry.type === 'call' && typeof entry.input === 'string' ? { ...entry, input: { input: entry.input } } : entry,
      ),
    }),
    note: /freeform tools as functions/,
  },
  {
    name: 'parallel tool calls cannot be disabled',
    feature: 'parallel tools',
    checked: 'parallel tools',
    happens: (client, upstream) => ['gemini', 'ollama'].includes(upstream) && client !== 'gemini',
    atUpstream: (received) => ({ ...received, isSerial: undefined }),
    note: /parallel_tool_calls/,
  },
  {
    name: 'images in tool results are sent in a user message',
    feature: 'image in a tool result',
    checked: 'images',
    happens: (client, upstream) => (upstream === 'chat' || upstream === 'ollama') && client !== 'chat',
    atUpstream: (received) => ({ ...received, entries: received.entries.flatMap(besideResult) }),
    note: /images in tool results as user message/,
  },
  {
    name: 'image URLs work only if Google can fetch them',
    feature: 'image by URL',
    checked: 'images',
    happens: (client, upstream) => upstream === 'gemini' && client !== 'gemini',
    note: /image URLs/,
    isCondition: true,
  },
  {
    name: 'reasoning has no signature',
    feature: 'reasoning',
    checked: 'reasoning',
    happens: (client, upstream) => upstream === 'chat' && client !== 'chat',
    atUpstream: withoutThoughts,
    note: /reasoning of earlier turns/,
  },
  {
    name: 'the stop sequence that was met is not reported',
    feature: 'stop sequence',
    happens: (client, upstream) => client === 'messages' && ['chat', 'gemini', 'ollama'].includes(upstream),
    atClient: (received) => ({ ...received, end: 'stop', stopSequence: undefined }),
  },
  {
    name: 'image URLs are refused',
    feature: 'image by URL',
    checked: 'images',
    happens: (_client, upstream) => upstream === 'ollama',
    isRefused: true,
  },
  {
    name: 'refusals and filtered answers look like normal answers',
    feature: ['refusal', 'content filter'],
    happens: (_client, upstream) => upstream === 'ollama',
    atClient: (received) => ({ ...received, end: 'stop' }),
  },
  {
    name: 'cached and reasoning tokens are not counted separately',
    feature: ['reasoning', 'usage'],
    happens: (_client, upstream) => upstream === 'ollama',
    atClient: (received) =>
      received.usage === undefined ? received : { ...received, usage: { ...received.usage, cached: 0, thinking: 0 } },
  },
  {
    name: 'tool calls cannot be forced',
    feature: [],
    checked: 'tools',
    happens: (_client, upstream) => upstream === 'ollama',
  },
];

export function lossesOf(feature: string, client: TextFormat, upstream: UpstreamTextFormat): readonly Loss[] {
  return losses.filter((loss) => [loss.feature].flat().includes(feature) && loss.happens(client, upstream));
}

function withoutThoughts(received: UpstreamAsk): UpstreamAsk {
  return { ...received, entries: received.entries.filter(({ type }) => type !== 'thought') };
}

/** The grammar becomes part of the description, and the input the only member of an object. */
function asFunction({ name, description, grammar }: Tool): Tool {
  return {
    name,
    description: `${description}\n\nThe input must follow this lark grammar:\n${String(grammar)}`,
    schema: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input, verbatim.' } },
      required: ['input'],
      additionalProperties: false,
    },
  };
}

function besideResult(entry: PlainEntry): PlainEntry[] {
  if (entry.type !== 'result' || entry.image === undefined) return [entry];
  const { image, ...result } = entry;
  const text = `${result.text}\n\nMedia from this tool follows in a message.`;
  return [
    { ...result, text },
    { type: 'image', image },
  ];
}
