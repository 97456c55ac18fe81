import { type UpstreamTextFormat, upstreamTextFormats } from '../support/formats.ts';
import type { Answer, AnswerBlock, Ask, Call, Entry, Failure, Thought, Tool, Usage } from './conversation.ts';

/** One feature: a few turns with the same upstream, and the expected result of each. */
export interface Feature {
  readonly name: string;
  readonly turns: readonly Turn[];
}

export interface Turn {
  readonly ask: Ask;
  readonly answer: Answer | Failure;
  /** The format of another upstream that answers this turn, as after a failover. */
  readonly elsewhere?: UpstreamTextFormat;
}

const usage: Usage = { input: 40, cached: 0, output: 12, thinking: 0 };

function answers(blocks: AnswerBlock[], more: Partial<Answer> = {}): Answer {
  const hasCalls = blocks.some(({ type }) => type === 'call');
  return { blocks, end: hasCalls ? 'calls' : 'stop', usage, ...more };
}

function says(text: string, more: Partial<Answer> = {}): Answer {
  return answers([{ type: 'text', text }], more);
}

const user = (text: string): Entry => ({ type: 'text', by: 'user', text });
const echo = (turn: number, forgets = false): Entry => ({ type: 'echo', turn, forgets });
const calls = (id: string, name: string, input: Call['input']): Call => ({ type: 'call', id, name, input });
const returns = (id: string, text: string): Entry => ({ type: 'result', id, text });

const weather: Tool = {
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
};
const clock: Tool = {
  name: 'get_time',
  description: 'Tells the time of a zone.',
  schema: { type: 'object', properties: { zone: { type: 'string' }, style: { type: 'object' } }, required: ['zone'] },
};
const ping: Tool = { name: 'ping', description: 'Checks whether the server responds.' };
const patch: Tool = { name: 'apply_patch', description: 'Changes files.', grammar: 'start: "*** Begin" /.+/' };

/** One pixel. */
const picture =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const address = 'https://pictures.example/cat.png';

const thought: Thought = {
  type: 'thought',
  text: 'The city is Oslo, so I ask there.',
  signature: 'c2VhbGVkIHRob3VnaHRz',
};
const paris = calls('call_paris1', 'get_weather', { city: 'Paris', note: 'ünï "quoted" \\ {' });
const oslo = calls('call_oslo1', 'get_weather', { city: 'Oslo' });

/** Every feature of the table, in its order. */
export const features: readonly Feature[] = [
  {
    name: 'text',
    turns: [
      {
        ask: { system: 'Be brief.', entries: [user('Say hello 👋 in Čeština.')] },
        answer: says('Ahoj! 👋\nJak se máš?'),
      },
      {
        ask: { system: 'Be brief.', entries: [user('Say hello 👋 in Čeština.'), echo(0), user('And goodbye?')] },
        answer: says('Na shledanou.'),
      },
    ],
  },
  {
    name: 'parallel tools',
    turns: [
      {
        ask: { entries: [user('Weather in Paris, time in UTC?')], tools: [weather, clock] },
        answer: answers([
          { type: 'text', text: 'I look it up.' },
          paris,
          calls('call_utc_2', 'get_time', { zone: 'UTC', style: { big: 12_345_678_901, list: [1, null] } }),
        ]),
      },
      {
        ask: {
          entries: [
            user('Weather in Paris, time in UTC?'),
            echo(0),
            returns('call_paris1', 'Sunny'),
            returns('call_utc_2', '12:00'),
          ],
          tools: [weather, clock],
        },
        answer: says('It is sunny in Paris at noon.'),
      },
      {
        ask: { entries: [user('One after the other.')], tools: [weather, clock], isSerial: true },
        answer: answers([oslo]),
      },
    ],
  },
  {
    name: 'zero-argument tool',
    turns: [
      { ask: { entries: [user('Ping.')], tools: [ping] }, answer: answers([calls('call_ping1', 'ping', {})]) },
      {
        ask: { entries: [user('Ping.'), echo(0), returns('call_ping1', 'pong')], tools: [ping] },
        answer: says('It answers.'),
      },
    ],
  },
  {
    name: 'freeform tool',
    turns: [
      {
        ask: { entries: [user('Patch it.')], tools: [patch] },
        answer: answers([calls('call_patch1', 'apply_patch', '*** Begin "a"\n{+ b}\n')]),
      },
      {
        ask: { entries: [user('Patch it.'), echo(0), returns('call_patch1', 'Done')], tools: [patch] },
        answer: says('Patched.'),
      },
    ],
  },
  {
    name: 'image in',
    turns: [
      {
        ask: { entries: [user('What is this?'), { type: 'image', image: picture }] },
        answer: says('A pixel.'),
      },
    ],
  },
  {
    name: 'image by URL',
    turns: [
      {
        ask: { entries: [user('What is this?'), { type: 'image', image: address }] },
        answer: says('A cat.'),
      },
    ],
  },
  {
    name: 'image in a tool result',
    turns: [
      { ask: { entries: [user('Look outside.')], tools: [weather] }, answer: answers([oslo]) },
      {
        ask: {
          entries: [
            user('Look outside.'),
            echo(0),
            { type: 'result', id: 'call_oslo1', text: 'A photo:', image: picture },
          ],
          tools: [weather],
        },
        answer: says('It rains.'),
      },
    ],
  },
  {
    name: 'failed tool result',
    turns: [
      { ask: { entries: [user('Weather in Oslo?')], tools: [weather] }, answer: answers([oslo]) },
      {
        ask: {
          entries: [
            user('Weather in Oslo?'),
            echo(0),
            { type: 'result', id: 'call_oslo1', text: 'no such city', isError: true },
          ],
          tools: [weather],
        },
        answer: says('I could not find out.'),
      },
    ],
  },
  {
    name: 'reasoning',
    turns: [
      {
        ask: { entries: [user('Weather in Oslo?')], tools: [weather], effort: 'high' },
        answer: answers([thought, oslo], { usage: { input: 40, cached: 0, output: 30, thinking: 18 } }),
      },
      reasoningTurn([echo(0)]),
      reasoningTurn([echo(0, true)]),
      ...upstreamTextFormats.map((elsewhere) => ({ ...reasoningTurn([echo(0)]), elsewhere })),
    ],
  },
  {
    name: 'structured output',
    turns: [
      {
        ask: {
          entries: [user('The answer as JSON.')],
          schema: {
            type: 'object',
            properties: { answer: { type: 'integer' } },
            required: ['answer'],
            additionalProperties: false,
          },
        },
        answer: says('{"answer":42}'),
      },
    ],
  },
  {
    name: 'refusal',
    turns: [
      {
        ask: { entries: [user('Something bad.')] },
        answer: answers([{ type: 'refusal', text: 'I cannot help with that.' }], { end: 'withheld' }),
      },
    ],
  },
  {
    name: 'stop sequence',
    turns: [
      {
        ask: { entries: [user('Count to ten.')], stop: ['four', 'END'] },
        answer: says('one two three ', { end: 'stop_sequence', stopSequence: 'four', unstopped: 'four five' }),
      },
    ],
  },
  {
    name: 'length limit',
    turns: [{ ask: { entries: [user('Tell all.')], limit: 64 }, answer: says('It was a dark and', { end: 'length' }) }],
  },
  {
    name: 'content filter',
    turns: [{ ask: { entries: [user('Sing.')] }, answer: says('Once upon', { end: 'withheld' }) }],
  },
  {
    name: 'usage',
    turns: [
      {
        ask: { entries: [user('Count.')] },
        answer: says('1, 2, 3', { usage: { input: 120, cached: 100, output: 30, thinking: 12 } }),
      },
      { ask: { entries: [user('Count again.')] }, answer: says('1, 2, 3', { usage: undefined }) },
    ],
  },
  {
    name: 'whole for streamed',
    turns: [
      {
        ask: { entries: [user('Weather in Oslo?')], tools: [weather] },
        answer: answers([{ type: 'text', text: 'I look it up.' }, oslo], { isOtherKind: true }),
      },
    ],
  },
  {
    name: 'error',
    turns: (['overflow', 'rate limit', 'bad key'] as const).map((answer) => ({
      ask: { entries: [user('Fail.')] },
      answer,
    })),
  },
];

/** The turn after a call that came with reasoning. */
function reasoningTurn(answer: Entry[]): Turn {
  return {
    ask: {
      entries: [user('Weather in Oslo?'), ...answer, returns('call_oslo1', 'Rain')],
      tools: [weather],
      effort: 'high',
    },
    answer: says('It rains in Oslo.'),
  };
}

export function featureOf(name: string): Feature {
  const feature = features.find((one) => one.name === name);
  if (feature === undefined) throw new Error(`no feature ${name}`);
  return feature;
}
