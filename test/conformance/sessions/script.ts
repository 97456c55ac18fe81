import type { JsonObject } from '#core/platform/json.ts';
import type { Answer, Call, Result, Tool } from '../conversation.ts';

/** What a client sends next: words of its user, or the results of the calls before. */
export interface Step {
  readonly text?: string;
  readonly image?: string; // base64 of a PNG
  readonly results?: readonly Result[];
  readonly wantsSearch?: boolean;
  readonly effort?: 'high';
  readonly schema?: JsonObject;
  readonly isStream: boolean;
  /** What the upstream answers. */
  readonly answer: Answer;
}

export const turns = 20;
export const system = 'Be brief.';
export const tools: readonly Tool[] = [
  {
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  {
    name: 'read_file',
    description: 'Reads a file.',
    schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
];

/** One pixel. */
export const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const schema = {
  type: 'object',
  properties: { answer: { type: 'integer' } },
  required: ['answer'],
  additionalProperties: false,
};

const kinds = [
  'text',
  'tool',
  'image',
  'reasoning',
  'parallel tools',
  'structured output',
  'search',
  'image from a tool',
  'reasoning with a tool',
  'failed tool',
] as const;

/** The steps of a turn. Another session begins with another kind of turn, and streams where the first does not. */
export function stepsOf(session: number, turn: number): readonly Step[] {
  const kind = kinds[(turn + session) % kinds.length] as (typeof kinds)[number];
  const id = `${session}-${turn}`;
  const isStream = (turn + session) % 2 === 0;
  const ask = { text: `Question ${id}: "é\\n" 語?`, isStream };
  const say = (...blocks: Answer['blocks']): Answer => ({ blocks, end: 'stop', usage: usageOf(turn, blocks) });
  const said = { type: 'text', text: `Answer ${id}: ünï 😀 {"x":1}.` } as const;
  const thought = {
    type: 'thought',
    text: `Thought ${id}.`,
    signature: Buffer.from(`s${id}`).toString('base64'),
  } as const;
  const call = (number: number): Call => {
    const tool = tools[number % tools.length] as Tool;
    const input = number % 2 === 0 ? { city: `Oslo ${id}` } : { path: `/tmp/"${id}"` };
    return { type: 'call', id: `call_${session}x${turn}x${number}`, name: tool.name, input };
  };
  const returned = (number: number, more: Partial<Result> = {}): Result => ({
    type: 'result',
    id: call(number).id,
    text: `Result ${id} of ${number}`,
    ...more,
  });
  const work = (blocks: Answer['blocks'], results: readonly Result[], more: Partial<Step> = {}): readonly Step[] => [
    { ...ask, ...more, answer: { ...say(...blocks), end: 'calls' } },
    { results, isStream, ...more, answer: say(said) },
  ];
  switch (kind) {
    case 'text':
      return [{ ...ask, answer: say(said) }];
    case 'image':
      return [{ ...ask, image: picture, answer: say(said) }];
    case 'search':
      return [{ ...ask, wantsSearch: true, answer: say(said) }];
    case 'reasoning':
      return [{ ...ask, effort: 'high', answer: say(thought, said) }];
    case 'structured output':
      return [{ ...ask, schema, answer: say({ type: 'text', text: `{"answer":${turn}}` }) }];
    case 'tool':
      return work([call(0)], [returned(0)]);
    case 'parallel tools':
      return work([call(0), call(1)], [returned(0), returned(1)]);
    case 'image from a tool':
      return work([call(1)], [returned(1, { image: picture })]);
    case 'reasoning with a tool':
      return work([thought, call(0)], [returned(0)], { effort: 'high' });
    case 'failed tool':
      return work([call(1)], [returned(1, { isError: true })]);
  }
}

function usageOf(turn: number, blocks: Answer['blocks']): Answer['usage'] {
  const thinking = blocks.some(({ type }) => type === 'thought') ? 7 : 0;
  return { input: 100 + turn, cached: 10, output: 20 + thinking, thinking };
}
