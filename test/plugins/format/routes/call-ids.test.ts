import { describe, expect, it } from 'vitest';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Item } from '../../../../plugins/format/canonical/conversation.ts';
import { joinTexts } from '../../../../plugins/format/canonical/dialogue.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { openCall } from '../../../../plugins/format/routes/model-call.ts';
import { conversational, type TextFormat, textFormats, type UpstreamTextFormat } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { modelOf } from '../catalog/catalog-fixture.ts';
import { exchange, pairs, requestOf } from '../invariants/fixture.ts';

interface Call {
  readonly id: string;
  readonly command: string;
  /** Undefined for a call that was cancelled. */
  readonly result?: string;
}
/** The calls of one answer. */
type Turn = readonly Call[];

const user = 'go';
const name = 'Bash';
const input = ({ command }: Call) => ({ command });
const answered = (turn: Turn) => turn.filter(({ result }) => result !== undefined);

/** The turns as clients of each format send them; a user speaks between them. */
const histories: Readonly<Record<TextFormat, (turns: readonly Turn[]) => JsonObject>> = {
  chat: (turns) => ({
    messages: turns.flatMap((turn) => [
      { role: 'user', content: user },
      {
        role: 'assistant',
        content: null,
        tool_calls: turn.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input(call)) },
        })),
      },
      ...answered(turn).map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
    ]),
    tools: [{ type: 'function', function: { name, parameters: { type: 'object' } } }],
  }),
  responses: (turns) => ({
    input: turns.flatMap((turn) => [
      { role: 'user', content: user },
      ...turn.map((call) => ({
        type: 'function_call',
        call_id: call.id,
        name,
        arguments: JSON.stringify(input(call)),
      })),
      ...answered(turn).map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
    ]),
    tools: [{ type: 'function', name, parameters: { type: 'object' } }],
  }),
  messages: (turns) => ({
    max_tokens: 9,
    messages: turns.flatMap((turn) => [
      { role: 'user', content: user },
      { role: 'assistant', content: turn.map((call) => ({ type: 'tool_use', id: call.id, name, input: input(call) })) },
      {
        role: 'user',
        content: [
          ...answered(turn).map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result })),
          { type: 'text', text: user },
        ],
      },
    ]),
    tools: [{ name, input_schema: { type: 'object' } }],
  }),
  gemini: (turns) => ({
    contents: turns.flatMap((turn) => [
      { role: 'user', parts: [{ text: user }] },
      { role: 'model', parts: turn.map((call) => ({ functionCall: { id: call.id, name, args: input(call) } })) },
      {
        role: 'user',
        parts: [
          ...answered(turn).map(({ id, result }) => ({ functionResponse: { id, name, response: { result } } })),
          { text: user },
        ],
      },
    ]),
    tools: [{ functionDeclarations: [{ name }] }],
  }),
};

const history = (of: JsonObject) => JSON.stringify(of['messages'] ?? of['input'] ?? of['contents']);

/** What an upstream gets of a history. */
function sent(
  client: TextFormat,
  upstream: UpstreamTextFormat,
  turns: readonly Turn[],
  quirks: ProfileSettings['quirks'] = {},
): { body: JsonObject; items: readonly Item[]; isAsItCame: boolean } {
  const asked = histories[client](turns);
  const body = sentOf(client, upstream, asked, quirks);
  return { body, items: itemsIn(upstream, body), isAsItCame: history(body) === history(asked) };
}

function sentOf(
  client: TextFormat,
  upstream: UpstreamTextFormat,
  asked: JsonObject,
  quirks: ProfileSettings['quirks'] = {},
): JsonObject {
  const to = upstreamAt('http://127.0.0.1:1/v1', { formats: [upstream] });
  const route = routeTo(to, { profile: mergeProfiles({ quirks }) });
  const request = requestOf(client, { model: 'test', ...asked });
  const call = openCall(exchange, modelOf('test', [], { routes: [route] }), request);
  return JSON.parse(String(call.encode(route).body)) as JsonObject;
}

const itemsIn = (upstream: UpstreamTextFormat, body: JsonObject): readonly Item[] =>
  upstream === 'ollama' ? [] : conversational[upstream].client.text.decodeRequest(body, new Notes()).items;
const sentBody = (client: TextFormat, upstream: TextFormat, asked: JsonObject): readonly Item[] =>
  itemsIn(upstream, sentOf(client, upstream, asked));

/** Each call with the results under its id. */
function pairsIn(items: readonly Item[]): [id: string, command: unknown, results: string[]][] {
  return items.flatMap((item) => {
    if (item.type !== 'tool_call') return [];
    const results = items.filter((other) => other.type === 'tool_result').filter(({ id }) => id === item.id);
    const texts = results.map(({ parts }) => joinTexts(parts));
    return [[item.id, (JSON.parse(item.input) as JsonObject)['command'], texts]];
  });
}

/** The same without ids, which must be unique. */
function uniquePairs(items: readonly Item[]): [unknown, string[]][] {
  const found = pairsIn(items);
  expect(new Set(found.map(([id]) => id)).size).toBe(found.length);
  return found.map(([, command, results]) => [command, results]);
}

/** A vendor that numbers its calls from 0 in each answer. */
const numbered: readonly Turn[] = [
  [{ id: 'call_0', command: 'ls', result: 'FIRST' }],
  [{ id: 'call_0', command: 'pwd', result: 'SECOND' }],
  [
    { id: 'call_0', command: 'ls', result: 'THIRD' },
    { id: 'call_1', command: 'date', result: 'FOURTH' },
  ],
  [
    { id: 'call_0', command: 'who', result: 'FIFTH' },
    { id: 'call_1', command: 'id', result: 'SIXTH' },
  ],
];
/** A server that gives all calls one id. */
const constant: readonly Turn[] = numbered.map((turn) => turn.map((call) => ({ ...call, id: 'functions.Bash:0' })));
const expected = numbered.flat().map(({ command, result }) => [command, [result]]);
const translated = pairs.filter(([client, upstream]) => client !== upstream);

describe.each([
  ['numbered anew in each turn', numbered],
  ['all the same', constant],
])('ids of calls that are %s', (_what, turns) => {
  it.each(translated)('each result of a %s client goes to its call on a %s route', (client, upstream) => {
    expect(uniquePairs(sent(client, upstream, turns).items)).toEqual(expected);
  });

  it.each(textFormats)('ids for a route of Ollama are unique too, from %s', (client) => {
    const messages = sent(client, 'ollama', turns).body['messages'] as JsonObject[];
    const made = messages.flatMap(
      ({ tool_calls: calls }) => (calls as JsonObject[] | undefined)?.map(({ id }) => id) ?? [],
    );
    const answers = messages.filter(({ role }) => role === 'tool');
    expect(new Set(made).size).toBe(6);
    expect(answers.map(({ tool_call_id: id, content }) => [id, content])).toEqual(
      made.map((id, index) => [id, expected[index]?.[1]?.[0]]),
    );
  });

  it.each(translated)('the ids of a %s client for %s stay the same in later turns', (client, upstream) => {
    const [short, long] = [turns.slice(0, 3), turns].map((some) => pairsIn(sent(client, upstream, some).items));
    expect(long?.slice(0, short?.length)).toEqual(short);
  });

  it.each(['chat', 'responses', 'messages'] as const)(
    'a %s vendor that refuses repeats gets unique ids from its own clients',
    (format) => {
      const { items, isAsItCame } = sent(format, format, turns, { tool_call_ids: 'unique' });
      expect(isAsItCame).toBe(false);
      expect(uniquePairs(items)).toEqual(expected);
      expect(pairsIn(items).every(([id]) => format !== 'messages' || /^[a-zA-Z0-9_-]+$/.test(id))).toBe(true);
    },
  );

  it.each(textFormats)('any other %s route gets the ids of its own clients as they are', (format) => {
    expect(sent(format, format, turns).isAsItCame).toBe(true);
  });
});

it.each(['chat', 'responses', 'messages'] as const)('unique ids of %s stay as they came', (format) => {
  const turns = numbered.map((turn, index) => turn.map((call) => ({ ...call, id: `${call.id}_${index}` })));
  expect(sent(format, format, turns, { tool_call_ids: 'unique' }).isAsItCame).toBe(true);
});

it.each(['chat', 'messages', 'responses'] as const)('nine characters are unique too: %s', (format) => {
  const { items } = sent(format, format, numbered, { tool_call_ids: 'nine_characters' });
  expect(uniquePairs(items)).toEqual(expected);
  expect(pairsIn(items).every(([id]) => /^[A-Za-z0-9]{9}$/.test(id))).toBe(true);
});

it.each(translated)('two calls of one turn with one id are paired by order, from %s to %s', (client, upstream) => {
  const turn = ['a', 'b'].map((command) => ({ id: 'd', command, result: `RES_${command}` }));
  expect(uniquePairs(sent(client, upstream, [turn]).items)).toEqual([
    ['a', ['RES_a']],
    ['b', ['RES_b']],
  ]);
});

it.each(translated)('a cancelled call leaves the result to the next of its id, from %s to %s', (client, upstream) => {
  const turns = [[{ id: 'd', command: 'a' }], [{ id: 'd', command: 'b', result: 'RES_b' }]];
  expect(uniquePairs(sent(client, upstream, turns).items)).toMatchObject([
    ['a', [expect.stringMatching(/not executed/)]],
    ['b', ['RES_b']],
  ]);
});

it.each(translated)('empty ids of a %s client are filled in for %s', (client, upstream) => {
  const turns = numbered.map((turn) => turn.map((call) => ({ ...call, id: '' })));
  const { items } = sent(client, upstream, turns);
  expect(uniquePairs(items)).toEqual(expected);
  expect(pairsIn(items).some(([id]) => id === '')).toBe(false);
});

it.each([
  ['chat', 40],
  ['responses', 64],
] as const)('ids of %s that are too long for OpenAI become shorter ones', (format, longest) => {
  const turns = named((place) => `call_${String(place).repeat(85)}`);
  const { items } = sent(format, format, turns, { tool_call_ids: 'unique' });
  expect(uniquePairs(items)).toEqual(expected);
  expect(pairsIn(items).every(([id]) => id.length <= longest)).toBe(true);
  expect(sent(format, format, turns).isAsItCame).toBe(true);
  const fitting = named((place) => `call_${String(place).repeat(longest - 5)}`);
  expect(sent(format, format, fitting, { tool_call_ids: 'unique' }).isAsItCame).toBe(true);
});

it.each(['chat', 'responses'] as const)('one long id of two calls becomes two short ones on %s', (format) => {
  const turns = numbered.map((turn) => turn.map((call) => ({ ...call, id: 'x'.repeat(90) })));
  const { items } = sent(format, format, turns, { tool_call_ids: 'unique' });
  expect(uniquePairs(items)).toEqual(expected);
  expect(pairsIn(items).every(([id]) => id.length <= 40)).toBe(true);
});

it.each(
  (['chat', 'responses', 'messages'] as const).flatMap((format) =>
    (['any', 'unique', 'nine_characters'] as const).map((rule) => [format, rule] as const),
  ),
)('empty ids of %s are filled in for routes of the same format: %s', (format, rule) => {
  const turns = numbered.map((turn) => turn.map((call) => ({ ...call, id: '' })));
  expect(uniquePairs(sent(format, format, turns, { tool_call_ids: rule }).items)).toEqual(expected);
});

it.each(['responses', 'messages', 'gemini'] as const)(
  'a call that a Chat client repeats in the old form is one: %s',
  (to) => {
    const both = { ...called('a'), tool_calls: [{ id: 'd', type: 'function', function: called('a').function_call }] };
    const messages = [{ role: 'user', content: user }, both, { role: 'tool', tool_call_id: 'd', content: 'RES_a' }];
    expect(uniquePairs(sentBody('chat', to, { messages }))).toEqual([['a', ['RES_a']]]);
  },
);

/** The ids that Kimi gets. */
function kimiIds(turns: readonly Turn[], client: TextFormat, upstream: 'chat' | 'messages'): string[] {
  const { items } = sent(client, upstream, turns, { tool_call_ids: 'functions' });
  expect(uniquePairs(items)).toEqual(turns.flat().map(({ command, result }) => [command, [result]]));
  return pairsIn(items).map(([id]) => id);
}

/** The numbered turns with other ids. */
function named(id: (place: number) => string): Turn[] {
  let place = 0;
  return numbered.map((turn) => turn.map((call) => ({ ...call, id: id(place++) })));
}

describe('a vendor whose ids are functions.NAME:N', () => {
  const byPlace = [0, 1, 2, 3, 4, 5].map((place) => `functions.Bash:${place}`);
  it.each(
    textFormats.flatMap((client) => (['chat', 'messages'] as const).map((upstream) => [client, upstream] as const)),
  )('gets such ids again for calls of another vendor, from %s on %s', (client, upstream) => {
    expect(
      kimiIds(
        named((place) => `toolu_${place}`),
        client,
        upstream,
      ),
    ).toEqual(byPlace);
    expect(kimiIds(numbered, client, upstream)).toEqual(byPlace);
  });

  it('keeps its own ids, even among those of another vendor', () => {
    expect(
      sent(
        'chat',
        'chat',
        named((place) => `functions.Bash:${place}`),
        { tool_call_ids: 'functions' },
      ).isAsItCame,
    ).toBe(true);
    const mixed = named((place) => (place === 1 ? 'toolu_1' : `functions.Bash:${place}`));
    expect(kimiIds(mixed, 'chat', 'chat')).toEqual(byPlace);
  });

  it('gets unique ids where it has numbered its calls anew in each turn', () => {
    expect(kimiIds(constant, 'chat', 'chat')).toEqual(byPlace);
  });
});

/** Calls and results in the deprecated form of Chat. */
const called = (command: string) => ({
  role: 'assistant',
  content: null,
  function_call: { name, arguments: JSON.stringify({ command }) },
});
const returned = (content: string) => ({ role: 'function', name, content });

describe('results without ids', () => {
  it.each(['chat', 'messages', 'responses'] as const)(
    'those of a Gemini client go to the latest turn: %s',
    (upstream) => {
      const call = (command: string) => ({ role: 'model', parts: [{ functionCall: { name, args: { command } } }] });
      const result = { role: 'user', parts: [{ functionResponse: { name, response: { result: 'RES_b' } } }] };
      const contents = [{ parts: [{ text: user }] }, call('a'), { parts: [{ text: user }] }, call('b'), result];
      expect(uniquePairs(sentBody('gemini', upstream, { contents }))).toMatchObject([
        ['a', [expect.stringMatching(/not executed/)]],
        ['b', ['RES_b']],
      ]);
    },
  );

  it.each(['responses', 'messages', 'gemini'] as const)(
    'those of a Chat client’s functions go to the latest call: %s',
    (upstream) => {
      const messages = [
        { role: 'user', content: user },
        called('a'),
        returned('RES_a'),
        called('b'),
        { role: 'user', content: user },
      ];
      expect(
        uniquePairs(sentBody('chat', upstream, { messages: [...messages, called('c'), returned('RES_c')] })),
      ).toMatchObject([
        ['a', ['RES_a']],
        ['b', [expect.stringMatching(/not executed/)]],
        ['c', ['RES_c']],
      ]);
    },
  );
});

const made = (id: string, tool: string, command: string) => ({
  type: 'function_call',
  call_id: id,
  name: tool,
  arguments: JSON.stringify({ command }),
});

it.each(['chat', 'messages', 'gemini'] as const)(
  'a result of Responses without an id goes to the call of its name: %s',
  (upstream) => {
    const output = { type: 'function_call_output', output: 'RES_c' };
    const first = [made('1', 'Bash', 'a'), { ...output, call_id: '1', output: 'RES_a' }];
    const pair = [made('2', 'Read', 'b'), made('3', 'Bash', 'c'), { ...output, name: 'Bash', call_id: null }];
    const last = [{ ...output, output: 'RES_b' }];
    expect(
      uniquePairs(sentBody('responses', upstream, { input: [...first, ...pair, ...last] as JsonObject[] })),
    ).toEqual([
      ['a', ['RES_a']],
      ['b', ['RES_b']],
      ['c', ['RES_c']],
    ]);
  },
);
