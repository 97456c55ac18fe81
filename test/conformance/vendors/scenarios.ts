import type { Answer, AnswerBlock, Ask, Call, Entry, Tool } from '../conversation.ts';
import { featureOf, type Turn } from '../features.ts';

/** What a client adds to its requests besides the question. */
export interface Habits {
  /** A system message after the first message, as Claude Code sends it. */
  readonly lateSystem?: string;
  /** Reasoning is asked for as Claude Code does. */
  readonly adaptive?: boolean;
  /** The model must call a tool. */
  readonly isForced?: boolean;
  /** The vendor's web search is offered beside the tools. */
  readonly hasSearch?: boolean;
  /** The body names another model first: the last one counts. */
  readonly repeatsModel?: boolean;
}

/** How a vendor fails: with its status, in the middle of its answer, or by closing the connection there. */
export type Fault = 'refused' | 'rate limit' | 'error in the answer' | 'broken answer';

export interface VendorTurn extends Turn {
  readonly answer: Answer;
  readonly habits?: Habits;
  /** True for a turn that another vendor of the client's format answers, before the conversation moves. */
  readonly isBefore?: boolean;
  readonly fault?: Fault;
}

export interface Scenario {
  readonly name: string;
  readonly turns: readonly VendorTurn[];
}

/** The signature of thoughts. */
export const signature = 'c2VhbGVkIHRob3VnaHRz';
const usage = { input: 40, cached: 0, output: 12, thinking: 0 };

const user = (text: string): Entry => ({ type: 'text', by: 'user', text });
const echo = (turn: number, forgets = false): Entry => ({ type: 'echo', turn, forgets });
const returns = (id: string, text: string): Entry => ({ type: 'result', id, text });
const call = (id: string, name: string, input: Call['input']): Call => ({ type: 'call', id, name, input });
const thought = { type: 'thought', text: 'The city is Oslo, so I ask there.', signature } as const;

function answers(blocks: AnswerBlock[], more: Partial<Answer> = {}): Answer {
  return { blocks, end: blocks.some(({ type }) => type === 'call') ? 'calls' : 'stop', usage, ...more };
}
const says = (text: string, more: Partial<Answer> = {}): Answer => answers([{ type: 'text', text }], more);

const weather: Tool = {
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
};
const clock: Tool = {
  name: 'get_time',
  description: 'Tells the time of a zone.',
  schema: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
};
const ping: Tool = { name: 'ping', description: 'Checks whether the server responds.' };

const paris = call('call_paris1', 'get_weather', { city: 'Paris', note: 'ünï "quoted" \\ {' });
const oslo = call('call_oslo1', 'get_weather', { city: 'Oslo' });
const utc = call('call_utc_2', 'get_time', { zone: 'UTC' });

const system = 'Be brief.';
const late = { lateSystem: 'The date has changed.' };
const greeted: readonly Entry[] = [user('Say hello 👋 in Čeština.'), echo(0), user('And goodbye?')];

function afterCall(ask: Partial<Ask>, entries: Entry[], habits?: Habits): VendorTurn {
  return {
    ask: { entries: [user('Weather in Oslo?'), ...entries, returns('call_oslo1', 'Rain')], tools: [weather], ...ask },
    answer: says('It rains in Oslo.'),
    ...(habits !== undefined && { habits }),
  };
}

function turnOf(feature: string): VendorTurn {
  return turnsOf(feature)[0] as VendorTurn;
}

function turnsOf(feature: string): readonly VendorTurn[] {
  return featureOf(feature).turns as readonly VendorTurn[];
}

/** Conversations with an odd vendor. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'text',
    turns: [
      { ask: { system, entries: greeted.slice(0, 1) }, answer: says('Ahoj! 👋\nJak se máš?') },
      { ask: { system, entries: greeted }, answer: says('Na shledanou.') },
    ],
  },
  {
    name: 'late system message',
    turns: [
      { ask: { system, entries: greeted.slice(0, 1) }, answer: says('Ahoj!'), habits: late },
      { ask: { system, entries: greeted }, answer: says('Na shledanou.'), habits: late },
    ],
  },
  {
    name: 'tools',
    turns: [
      {
        ask: { system, entries: [user('Weather in Oslo?')], tools: [weather] },
        answer: answers([{ type: 'text', text: 'I look it up.' }, oslo]),
      },
      afterCall({ system }, [echo(0)]),
    ],
  },
  {
    name: 'parallel tools',
    turns: [
      {
        ask: { entries: [user('Weather in Paris, time in UTC?')], tools: [weather, clock] },
        answer: answers([paris, utc]),
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
    ],
  },
  {
    name: 'zero-argument tool',
    turns: [
      { ask: { entries: [user('Ping.')], tools: [ping] }, answer: answers([call('call_ping1', 'ping', {})]) },
      {
        ask: { entries: [user('Ping.'), echo(0), returns('call_ping1', 'pong')], tools: [ping] },
        answer: says('It answers.'),
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
      afterCall({ effort: 'high' }, [echo(0)]),
      afterCall({ effort: 'high' }, [echo(0, true)]),
    ],
  },
  {
    name: 'adaptive reasoning',
    turns: [
      {
        ask: { entries: [user('Weather in Oslo?')], tools: [weather], effort: 'high' },
        answer: answers([thought, { type: 'text', text: 'Rain, I think.' }]),
        habits: { ...late, adaptive: true },
      },
    ],
  },
  {
    name: 'history from elsewhere',
    turns: [
      {
        ask: { entries: [user('Weather in Oslo?')], tools: [weather], effort: 'high' },
        answer: answers([thought, oslo]),
        isBefore: true,
      },
      afterCall({ effort: 'high' }, [echo(0)]),
    ],
  },
  { name: 'structured output', turns: [turnOf('structured output')] },
  { name: 'stop sequence', turns: [turnOf('stop sequence')] },
  { name: 'length limit', turns: [turnOf('length limit')] },
  { name: 'image', turns: [turnOf('image in')] },
  { name: 'image in a tool result', turns: turnsOf('image in a tool result') },
  { name: 'freeform tool', turns: turnsOf('freeform tool') },
  {
    name: 'usage',
    turns: [
      {
        ask: { entries: [user('Count.')] },
        answer: says('1, 2, 3', { usage: { input: 120, cached: 100, output: 30, thinking: 12 } }),
      },
    ],
  },
  {
    name: 'forced tool',
    turns: [
      {
        ask: { entries: [user('Weather in Oslo?')], tools: [weather] },
        answer: answers([oslo]),
        habits: { isForced: true },
      },
    ],
  },
  {
    name: 'one call at a time',
    turns: [
      { ask: { entries: [user('Weather in Oslo?')], tools: [weather], isSerial: true }, answer: answers([oslo]) },
    ],
  },
  {
    name: 'web search beside a tool',
    turns: [
      {
        ask: { entries: [user('Weather in Oslo?')], tools: [weather] },
        answer: answers([oslo]),
        habits: { hasSearch: true },
      },
    ],
  },
  {
    name: 'web search alone',
    turns: [{ ask: { entries: [user('News?')] }, answer: says('None.'), habits: { hasSearch: true } }],
  },
  {
    name: 'repeated member',
    turns: [{ ask: { entries: [user('Hello?')] }, answer: says('Hello.'), habits: { repeatsModel: true } }],
  },
  ...(['refused', 'rate limit', 'error in the answer', 'broken answer'] as const).map((fault) => ({
    name: fault,
    turns: [
      {
        ask: { entries: [user('Weather in Oslo?')], tools: [weather] },
        answer: answers([{ type: 'text', text: 'I look it up now.' }, oslo]),
        fault,
      },
    ],
  })),
];

export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  return scenario;
}
