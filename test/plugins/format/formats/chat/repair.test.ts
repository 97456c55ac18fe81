import { describe, expect, it, vi } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { ChatReplyRepair } from '../../../../../plugins/format/formats/chat/repair/reply-repair.ts';
import { streamEvent } from '../../codec-fixture.ts';
import {
  head,
  choice,
  chunk,
  finish,
  begin,
  calls,
  entry,
  next,
  newRepair,
  repaired,
  wholeOf,
  choicesOf,
  deltasOf,
  textOf,
  entriesOf,
  finishesOf,
  piece,
  line,
} from './repair-fixture.ts';

describe('required members that later chunks lack', () => {
  const { model: _model, ...withoutModel } = head;

  it.each(['id', 'object', 'created', 'model'])('%s is added to every chunk', (name) => {
    const pieces = ['a', 'b', 'c'].map((text) => {
      const { [name]: _removed, ...rest } = piece(text);
      return rest;
    });
    const chunks = repaired([begin, ...pieces, finish('stop')]);
    expect(textOf(chunks)).toBe('abc');
    for (const each of chunks)
      expect(each).toMatchObject({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: expect.any(Number) as number,
        model: expect.any(String) as string,
      });
  });

  it('a member with a wrong value is replaced, not repeated', () => {
    const chunks = repaired([begin, { ...piece('a'), model: null }, { ...piece('b'), created: '7' }]);
    expect(chunks.slice(1)).toEqual([
      { ...piece('a'), model: 'asked' },
      { ...piece('b'), created: 9 },
    ]);
  });

  it('a chunk that has its members behind the choices lacks none', () => {
    const { choices, ...rest } = piece('a');
    const pieces = ['a', 'b'].map((text) => ({ id: head.id, choices: choicesOf(piece(text)), ...rest }));
    const { model: _removed, ...last }: JsonObject = { id: head.id, choices: choicesOf(piece('c')), ...rest };
    expect(choices).toBeDefined();
    expect(repaired([begin, ...pieces, last])).toEqual([begin, ...pieces, { ...last, model: 'asked' }]);
  });

  it.each([
    ['all members', head, 1],
    ['no model', withoutModel, 1],
  ])('200 chunks with %s are not parsed', (_, members, parsed) => {
    const repair = newRepair();
    const pieces = Array.from({ length: 200 }, (__, index) => ({
      ...members,
      choices: [choice({ content: `${index} ` })],
    }));
    const texts = [begin, ...pieces].map((each) => `data: ${JSON.stringify(each)}\n\n`);
    const parse = vi.spyOn(JSON, 'parse');
    const events = texts.flatMap((text) => repair.repairEvent(streamEvent(text)));
    const count = parse.mock.calls.length;
    parse.mockRestore();
    expect(count).toBe(parsed);
    const chunks = events.map(({ data = '' }) => JSON.parse(data) as JsonObject);
    expect(chunks.filter(({ model }) => typeof model === 'string')).toHaveLength(201);
  });
});

const goPiece = (one: JsonObject, more: JsonObject = {}) => ({ index: 0, custom: {}, ...more, function: one });

describe('members of other kinds that a server in Go writes empty', () => {
  const empty = {
    content: '',
    refusal: '',
    annotations: null,
    audio: { id: '', data: '', expires_at: 0, transcript: '' },
    function_call: { name: '', arguments: '' },
  };
  const custom = { name: '', input: '' };
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } };

  it.each(['', 'tool_calls'])('do not hide the calls of a whole reply whose finish reason is %j', (finish_reason) => {
    const message = { role: 'assistant', ...empty, tool_calls: [{ ...call, custom }] };
    const body = {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason, logprobs: null }],
    };
    const [only] = choicesOf(wholeOf(body));
    expect(only).toMatchObject({ finish_reason: 'tool_calls' });
    expect(only?.['message']).toEqual({
      role: 'assistant',
      content: '',
      refusal: '',
      annotations: null,
      tool_calls: [call],
    });
  });

  it('do not hide the calls of a stream', () => {
    const open = { delta: { role: 'assistant', ...empty }, finish_reason: '' };
    const chunks = repaired([
      chunk(null, open),
      chunk({ ...empty, tool_calls: [goPiece({ name: 'look', arguments: '' }, { id: 'call_1', type: 'function' })] }),
      chunk({ ...empty, tool_calls: [goPiece({ name: '', arguments: '{"at":' }, { id: '', type: '', custom })] }),
      chunk({ ...empty, tool_calls: [goPiece({ name: '', arguments: '1}' }, { id: '', type: '', custom })] }),
      chunk({ ...empty }, { finish_reason: 'stop' }),
      '[DONE]',
    ]);
    expect(entriesOf(chunks)).toEqual([
      { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } },
      next(0, '{"at":'),
      next(0, '1}'),
    ]);
    expect(finishesOf(chunks)).toEqual(['tool_calls']);
    expect(JSON.stringify(chunks)).not.toMatch(/audio|function_call"|custom/);
  });

  it('do not turn a custom call into a function', () => {
    const made = { id: 'call_1', type: 'custom', custom: { name: 'patch', input: 'x' } };
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ ...made, function: { name: '', arguments: '' } }],
    };
    const body = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
    expect(choicesOf(wholeOf(body))[0]).toMatchObject({ message: { tool_calls: [made] } });
  });
});

describe('reasoning under another name', () => {
  it('is there under the name that clients read as well, streamed and whole', () => {
    const chunks = repaired([begin, chunk({ reasoning: 'Hm' }), chunk({ reasoning: '.' }), chunk({ content: 'Hi' })]);
    expect(textOf(chunks, 'reasoning_content')).toBe('Hm.');
    expect(textOf(chunks, 'reasoning')).toBe('Hm.');
    const message = { role: 'assistant', content: 'Hi', reasoning: 'Hm.' };
    const body = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    expect(choicesOf(wholeOf(body))[0]?.['message']).toEqual({ ...message, reasoning_content: 'Hm.' });
  });
});

describe('a clean stream', () => {
  const clean = [
    begin,
    chunk({ reasoning_content: 'Hm "quoted" \\ é' }),
    chunk({ content: 'Say "tool_calls": [ and "finish_reason": "stop"' }),
    chunk({ content: 'é\n' }),
    calls(entry(0, 'c1', 'a')),
    calls(next(0, '{"x":')),
    calls(next(0, '"}"}')),
    calls(entry(1, 'c2', 'b', '{}')),
    finish('tool_calls'),
    { ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
  ];

  it('a clean stream passes as the same events', () => {
    const repair = newRepair();
    const events = [...clean, '[DONE]'].map((each) =>
      streamEvent(`data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`),
    );
    for (const event of events) expect(repair.repairEvent(event)).toEqual([event]);
    expect(repair.failure).toBeUndefined();
  });

  it('a clean stream passes with comments, events without choices and members of the vendor', () => {
    const repair = newRepair();
    const azure = { choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [] };
    const last = { ...finish('stop'), citations: ['https://a.test'], usage: { prompt_tokens: 1 } };
    for (const text of [': ping\n\n', ...[azure, begin, last].map((each) => `data: ${JSON.stringify(each)}\n\n`)]) {
      const event = streamEvent(text);
      expect(repair.repairEvent(event)).toEqual([event]);
    }
  });
});

const named = (body: JsonObject, service_tier: string): JsonObject => ({ ...body, service_tier });
/** A stream whose later chunks name their tier. */
const servedBy = (tier: string) => [
  begin,
  chunk({ content: 'a' }),
  chunk({ content: 'b' }),
  named(chunk({ content: 'c' }), tier),
  named(chunk({ content: 'd' }), tier),
  { service_tier: tier, ...chunk({ content: 'e' }) },
  { service_tier: tier, ...chunk({ content: 'f' }) },
  named(finish('stop'), tier),
];

describe('a service tier of the vendor’s own', () => {
  const message = { role: 'assistant', content: 'Hi' };
  const body = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };

  it('is left out of every chunk and of a whole answer, and nothing else', () => {
    const written = repaired(servedBy('on_demand'));
    expect(textOf(written)).toBe('abcdef');
    expect(JSON.stringify(written)).not.toContain('service_tier');
    expect(wholeOf(named(body, 'on_demand'))).toEqual(body);
  });

  it('is distinguished from the same words in a text', () => {
    const content = '{"service_tier":"on_demand"}';
    expect(textOf(repaired([begin, chunk({ content })]))).toBe(content);
  });

  it.each(['default', 'flex', 'priority'])('is not one that OpenAI knows: %s', (tier) => {
    expect(repaired(servedBy(tier))).toEqual(servedBy(tier));
    const whole = named(body, tier);
    expect(wholeOf(whole)).toBe(whole);
  });

  it('is passed on from OpenAI itself', () => {
    expect(repaired(servedBy('new'), newRepair({}, { betas: true }))).toEqual(servedBy('new'));
    expect(wholeOf(named(body, 'new'), newRepair({}, { betas: true }))).toEqual(named(body, 'new'));
  });
});

/** True when the repair finds the last of these chunks plain. */
function isLastPlain(...texts: string[]): boolean {
  const repair = newRepair();
  const events = texts.map((text) => streamEvent(text));
  for (const event of events) repair.repairEvent(event);
  return events.at(-1)?.isPlain === true;
}

const word = (content: string, more: JsonObject = {}) => line({ ...chunk({ content }), ...more });

describe('a chunk of a stream', () => {
  it('a long chunk is never plain', () => {
    expect(isLastPlain(line(begin), word('a'), word('b'.repeat(70_000)), word('c'.repeat(70_000)))).toBe(false);
  });

  it('a chunk that differs from an earlier one only in its text is plain', () => {
    expect(isLastPlain(line(begin), word('a'), word('b "usage":{'))).toBe(true);
  });

  it('a chunk that differs in its padding, too, is plain', () => {
    const padded = (content: string, obfuscation: string) => word(content, { obfuscation, more: 1 });
    expect(isLastPlain(line(begin), padded('a', 'x'), padded('b', 'yz"'))).toBe(true);
    expect(isLastPlain(line(begin), padded('a', 'x'), word('b', { obfuscation: 'yz', more: 2 }))).toBe(false);
  });

  it.each([
    ['the first of its kind', [line(begin), word('a')]],
    ['one with counts', [line(begin), word('a', { usage: { a: 1 } }), word('b', { usage: { a: 1 } })]],
    ['one with other members behind its choices', [line(begin), word('a'), word('b', { usage: { a: 1 } })]],
    ['one with an ending', [line(begin), word('a'), line(finish('stop', { content: 'b' }))]],
    ['one named an error', [line(begin), word('a'), `event: error\n${word('b')}`]],
  ])('is not plain when it is %s', (_what, texts) => {
    expect(isLastPlain(...texts)).toBe(false);
  });
});

describe('calls in a stream', () => {
  it('calls in a stream without index and type get both', () => {
    const given = { id: 'c1', function: { name: 'a', arguments: '{}' } };
    const chunks = repaired([begin, calls(given, { ...given, id: 'c2' }), finish('tool_calls')]);
    expect(entriesOf(chunks)).toEqual([entry(0, 'c1', 'a', '{}'), entry(1, 'c2', 'a', '{}')]);
  });

  it('calls with one index and several ids get an index each', () => {
    const chunks = repaired([
      begin,
      calls(entry(0, 'c1', 'a', '{"x":')),
      calls(next(0, '1}')),
      calls(entry(0, 'c2', 'b', '{"y":')),
      calls(next(0, '2}')),
    ]);
    expect(entriesOf(chunks)).toEqual([
      entry(0, 'c1', 'a', '{"x":'),
      next(0, '1}'),
      entry(1, 'c2', 'b', '{"y":'),
      next(1, '2}'),
    ]);
  });

  it('calls numbered by the position of their tool get an index each', () => {
    const chunks = repaired([
      begin,
      ...[entry(0, 'c1', 'a'), next(0, '{"x":1}'), entry(1, 'c2', 'b'), next(1, '{}')].map((one) => calls(one)),
      ...[entry(0, 'c3', 'a'), next(0, '{"x"'), next(0, ':3}')].map((one) => calls(one)),
    ]);
    expect(entriesOf(chunks).slice(4)).toEqual([entry(2, 'c3', 'a'), next(2, '{"x"'), next(2, ':3}')]);
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['null', null],
    ['the word null', 'null'],
  ])('whose ids are %s get one each', (_what, id) => {
    const nameless = (index: number, name: string): JsonObject => {
      const { id: _id, ...rest } = entry(index, '', name, '{}');
      return id === undefined ? rest : { ...rest, id };
    };
    const expected = [entry(0, 'call_x_0', 'a', '{}'), entry(1, 'call_x_1', 'b', '{}')];
    const chunks = repaired([begin, calls(nameless(0, 'a')), calls(nameless(1, 'b')), finish('tool_calls')]);
    expect(entriesOf(chunks)).toEqual(expected);
    const [first, second] = [nameless(0, 'a'), nameless(1, 'b')].map(({ index: _index, ...rest }) => rest);
    const together = repaired([begin, calls(first as JsonObject, second as JsonObject), finish('tool_calls')]);
    expect(entriesOf(together)).toEqual(expected);
  });

  it.each([
    ['missing', {}],
    ['null', { arguments: null }],
    ['empty', { arguments: '' }],
    ['white space', { arguments: ' ' }],
  ])('whose arguments are %s get an empty object before the finish', (_what, members) => {
    const given = { index: 0, id: 'c1', type: 'function', function: { name: 'a', ...members } };
    const chunks = repaired([begin, calls(given), finish('tool_calls')]);
    const input = entriesOf(chunks)
      .map((each) => (each['function'] as JsonObject)['arguments'])
      .join('');
    expect(JSON.parse(input)).toEqual({});
    expect(finishesOf(chunks)).toEqual(['tool_calls']);
  });

  it('a call without input that ends in its own chunk gets an empty object in that entry', () => {
    const given = { index: 0, id: 'c1', type: 'function', function: { name: 'a', arguments: '' } };
    const chunks = repaired([begin, finish('tool_calls', { tool_calls: [given] })]);
    expect(entriesOf(chunks)).toEqual([entry(0, 'c1', 'a', '{}')]);
  });

  it('a call whose arguments are an object gets their JSON', () => {
    const given = { index: 0, id: 'c1', type: 'function', function: { name: 'a', arguments: { x: 1 } } };
    expect(entriesOf(repaired([begin, calls(given)]))).toEqual([entry(0, 'c1', 'a', '{"x":1}')]);
  });

  it('calls in a stream keep the digits of long numbers', () => {
    const text = JSON.stringify(calls({ ...entry(0, 'c1', 'a'), function: { name: 'a', arguments: {} } }));
    const long = text.replace('"arguments":{}', '"arguments":{"id":12345678901234567890}');
    const [event] = newRepair().repairEvent(streamEvent(`data: ${long}\n\n`));
    const [given] = entriesOf([JSON.parse(event?.data ?? '') as JsonObject]);
    expect(given?.['function']).toEqual({ name: 'a', arguments: '{"id":12345678901234567890}' });
  });

  it('calls keep members of the vendor, and lose repeated names and ids', () => {
    const signed = { ...entry(3, 'c1', 'a'), extra_content: { google: { thought_signature: 's' } } };
    const chunks = repaired([begin, calls(signed), calls({ ...entry(3, 'other', 'a', '{}') })]);
    expect(entriesOf(chunks)).toEqual([{ ...signed, index: 0 }, entry(1, 'other', 'a', '{}')]);
    const same = repaired([begin, calls(entry(0, 'c1', 'a', '{"x":')), calls(entry(0, 'c1', 'a', '1}'))]);
    expect(entriesOf(same)[1]).toEqual(next(0, '1}'));
  });

  it('a call waits for a name that arrives later, and is left out without one', () => {
    const chunks = repaired([
      begin,
      calls({ index: 0, id: 'c1', type: 'function', function: { arguments: '{"x"' } }),
      calls({ index: 0, function: { name: 'a', arguments: ':1}' } }),
      calls({ index: 1, id: 'c2', type: 'function', function: { arguments: '{}' } }),
      finish('tool_calls'),
    ]);
    expect(entriesOf(chunks)).toEqual([entry(0, 'c1', 'a', '{"x":1}')]);
  });

  it('a deprecated function call becomes a tool call, unless the client sent only functions', () => {
    const old = [begin, chunk({ function_call: { name: 'a', arguments: '{}' } }), finish('function_call')];
    const chunks = repaired(old);
    expect(entriesOf(chunks)).toEqual([entry(0, 'call_x_0', 'a', '{}')]);
    expect(finishesOf(chunks)).toEqual(['tool_calls']);
    expect(repaired(old, newRepair({ functions: [{ name: 'a' }] }))).toEqual(old);
  });

  it('a freeform call has text as its input', () => {
    const custom = { index: 0, id: 'c1', type: 'custom', custom: { name: 'a', input: '' } };
    const given = [begin, calls(custom), calls({ index: 0, custom: { input: 'text {' } }), finish('tool_calls')];
    expect(repaired(given)).toEqual(given);
  });
});

const two = (index: number, delta: JsonObject) => ({ ...head, choices: [{ index, delta, finish_reason: null }] });

/** For a vendor that never gives a finish reason. */
const sure = () => newRepair({}, { finish_reason: false });

describe('the finish reason of a stream', () => {
  it.each([
    ['model_length', 'length'],
    ['sensitive', 'content_filter'],
    ['eos', 'stop'],
    ['end_turn', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['tool_calls', 'stop'],
  ])('%s of a text becomes %s', (given, reason) => {
    expect(finishesOf(repaired([begin, chunk({ content: 'a' }), finish(given)]))).toEqual([reason]);
  });

  it('the finish reason stop of a stream with calls becomes tool_calls', () => {
    expect(finishesOf(repaired([begin, calls(entry(0, 'c1', 'a', '{}')), finish('stop')]))).toEqual(['tool_calls']);
  });

  it('a repeated finish reason is sent once, with the other members of the repetition', () => {
    const chunks = repaired([
      begin,
      chunk({ content: 'a' }),
      finish('stop'),
      { ...finish('stop'), usage: { prompt_tokens: 1 } },
    ]);
    expect(finishesOf(chunks)).toEqual(['stop']);
    expect(chunks.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: null }], usage: { prompt_tokens: 1 } });
  });

  it.each(['', 'null'])('the finish reason “%s” counts as missing', (given) => {
    expect(finishesOf(repaired([begin, finish(given, { content: 'a' }), finish('stop')]))).toEqual(['stop']);
  });

  it('a vendor that never gives a finish reason gets one before [DONE]', () => {
    expect(finishesOf(repaired([begin, chunk({ content: 'a' }), '[DONE]'], sure()))).toEqual(['stop']);
    const called = repaired([begin, calls(entry(0, 'c1', 'a', '{"x":1}')), '[DONE]'], sure());
    expect(finishesOf(called)).toEqual(['tool_calls']);
    const chunks = repaired([begin, calls(entry(0, 'c1', 'a')), '[DONE]'], sure());
    expect([entriesOf(chunks).at(-1), finishesOf(chunks)]).toEqual([next(0, '{}'), ['tool_calls']]);
  });

  it('a missing finish reason of an unknown vendor is noted, not invented', () => {
    const repair = newRepair();
    expect(repaired([begin, chunk({ content: 'a' }), '[DONE]'], repair)).toEqual([begin, chunk({ content: 'a' })]);
    expect([repair.notes, repair.failure]).toEqual([['missing finish reason'], undefined]);
  });

  it('a missing finish reason is a failure once the route has given one', () => {
    const profile = mergeProfiles();
    const context = { id: 'x', model: 'asked', created: 9, request: {} };
    const stream = [begin, chunk({ content: 'a' })];
    repaired([...stream, finish('stop'), '[DONE]'], new ChatReplyRepair(context, profile));
    const repair = new ChatReplyRepair(context, profile);
    expect(finishesOf(repaired([...stream, '[DONE]'], repair))).toEqual([]);
    expect(repair.failure).toMatchObject({ code: 'upstream_failed' });
  });

  it('no finish reason is added after an error or without content', () => {
    expect(finishesOf(repaired([begin, '[DONE]']))).toEqual([]);
    expect(finishesOf(repaired([begin, chunk({ content: 'a' }), { error: { message: 'gone' } }, '[DONE]']))).toEqual(
      [],
    );
    expect(finishesOf(repaired([begin, chunk({ content: 'a' }), finish('network_error'), '[DONE]']))).toEqual([
      'network_error',
    ]);
  });

  it('a stream that ends inside a call is a failure', () => {
    const repair = newRepair();
    const chunks = repaired([begin, calls(entry(0, 'c1', 'a', '{"x":')), calls(next(0, '"}')), '[DONE]'], repair);
    expect(finishesOf(chunks)).toEqual([]);
    expect(repair.failure?.message).toContain('inside a tool call');
  });

  it('each of several answers gets its finish reason', () => {
    const repair = newRepair({ n: 2 }, { finish_reason: false });
    const given = [
      two(0, { role: 'assistant', content: 'a' }),
      two(1, { content: 'b' }),
      finish('eos'),
      '[DONE]',
    ] as const;
    const chunks = repaired(given, repair);
    expect([finishesOf(chunks, 0), finishesOf(chunks, 1)]).toEqual([['stop'], ['stop']]);
    expect(deltasOf(chunks, 1)[0]).toEqual({ role: 'assistant', content: 'b' });
  });
});

describe('the text of a stream', () => {
  it('a whole message after the deltas does not repeat their text', () => {
    const message = { role: 'assistant', content: 'hello', tool_calls: null };
    const { delta: _, ...last } = choice(null, { message, finish_reason: 'stop' });
    const chunks = repaired([
      begin,
      chunk({ content: 'hel' }),
      finish('stop', { content: 'lo' }),
      { ...head, choices: [last], usage: {} },
    ]);
    expect([textOf(chunks), finishesOf(chunks)]).toEqual(['hello', ['stop']]);
    expect(chunks.at(-1)).toEqual({ ...head, choices: [{ index: 0, delta: {}, finish_reason: null }], usage: {} });
  });

  it('a whole message without deltas becomes the text of the stream', () => {
    const message = { role: 'assistant', content: 'hello', annotations: [{ type: 'url_citation' }] };
    const chunks = repaired([{ ...head, choices: [{ index: 0, message, finish_reason: 'stop' }] }]);
    expect(chunks).toEqual([{ ...head, choices: [{ index: 0, finish_reason: 'stop', delta: message }] }]);
  });

  it.each([
    ['all of it', 'hello'],
    ['its last piece', 'lo'],
  ])('is not repeated behind the finish: %s', (_what, again) => {
    const given = [
      begin,
      chunk({ content: 'hel' }),
      chunk({ content: 'lo' }),
      finish('stop'),
      chunk({ content: again }),
    ];
    expect(textOf(repaired(given))).toBe('hello');
  });

  it('text parts become text, and thinking parts become reasoning', () => {
    const chunks = repaired([
      chunk({ role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
      chunk({
        content: [
          { type: 'text', text: 'a' },
          { type: 'reference', reference_ids: [1] },
        ],
      }),
      chunk({ content: 'b' }),
    ]);
    expect([textOf(chunks), textOf(chunks, 'reasoning_content')]).toEqual(['ab', 'Hm']);
  });

  it('inline thinking is removed from the text of a stream', () => {
    const given = [
      chunk({ role: 'assistant', content: '<thi' }),
      chunk({ content: 'nk>Hm</think>a' }),
      chunk({ content: 'b' }),
      finish('stop'),
    ];
    const chunks = repaired(given, newRepair({}, { inline_thinking: true }));
    expect([textOf(chunks), textOf(chunks, 'reasoning_content')]).toEqual(['ab', 'Hm']);
    expect(textOf(repaired(given))).toBe('<think>Hm</think>ab');
  });

  it('inline thinking that the vendor also sends as reasoning is sent once', () => {
    const given = [
      chunk({ role: 'assistant', content: '<think>Hm', reasoning_content: 'Hm' }),
      chunk({ content: '</think>a' }),
    ];
    const chunks = repaired(given, newRepair({}, { inline_thinking: true }));
    expect([textOf(chunks), textOf(chunks, 'reasoning_content')]).toEqual(['a', 'Hm']);
  });

  it('text that was held back until the end comes with the finish reason', () => {
    const quirks = { inline_thinking: true };
    expect(textOf(repaired([begin, chunk({ content: '<th' }), finish('stop')], newRepair({}, quirks)))).toBe('<th');
    expect(textOf(repaired([begin, chunk({ content: '<th' }), '[DONE]'], newRepair({}, quirks)))).toBe('<th');
  });
});

const detail = (text: string): JsonObject => chunk({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] });

describe('the reasoning of a stream', () => {
  it('reasoning is read from details, which may repeat all earlier ones', () => {
    const chunks = repaired([begin, detail('First'), detail('First, then'), chunk({ content: 'a' })]);
    expect(textOf(chunks, 'reasoning_content')).toBe('First, then');
    expect(deltasOf(chunks)[2]?.['reasoning_details']).toEqual([{ type: 'reasoning.text', text: ', then', index: 0 }]);
  });

  it('reasoning is not repeated when its last piece arrives twice', () => {
    const last = chunk({ reasoning_content: ' and that is the reason.' });
    const chunks = repaired([begin, chunk({ reasoning_content: 'So' }), last, last, chunk({ content: 'a' })]);
    expect(textOf(chunks, 'reasoning_content')).toBe('So and that is the reason.');
  });
});

const bare = (delta: JsonObject): JsonObject => ({ choices: [{ delta }] });

describe('a chunk', () => {
  it.each([
    ['missing', {}],
    ['null', { choices: null }],
  ])('whose choices are %s gets an empty list', (_what, members) => {
    expect(repaired([{ ...head, ...members }])).toEqual([{ ...head, choices: [] }]);
  });

  it.each([
    ['null', { index: 0, delta: null, finish_reason: null }],
    ['missing', { index: 0, finish_reason: null }],
  ])('whose delta is %s gets an empty one', (_what, given) => {
    expect(repaired([begin, { ...head, choices: [given] }]).at(-1)).toEqual(chunk({}));
  });

  it('every chunk gets the members that clients require, the same in all', () => {
    const chunks = repaired([
      bare({ content: 'a' }),
      bare({ content: 'b' }),
      { choices: [], usage: { prompt_tokens: 1 } },
    ]);
    const filled = { id: 'chatcmpl-x', object: 'chat.completion.chunk', created: 9, model: 'asked' };
    expect(chunks).toMatchObject([filled, filled, filled]);
    expect(chunks.map(choicesOf)).toEqual([
      [{ index: 0, delta: { role: 'assistant', content: 'a' } }],
      [{ index: 0, delta: { content: 'b' } }],
      [],
    ]);
  });

  it('the chunk with the usage gets the id of the others', () => {
    const { id: _, ...rest } = head;
    const chunks = repaired([begin, finish('stop'), { ...rest, choices: [], usage: { prompt_tokens: 1 } }]);
    expect(chunks.at(-1)).toMatchObject({ id: head.id });
  });
});
