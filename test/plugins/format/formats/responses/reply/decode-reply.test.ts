import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { GrammarGuard } from '../../../../../../plugins/format/canonical/guard.ts';
import { type CompleteReply, contentOf, type Fragment } from '../../../../../../plugins/format/canonical/reply.ts';
import { commonNameRules, ToolNames } from '../../../../../../plugins/format/canonical/tool-names.ts';
import { responsesCodec } from '../../../../../../plugins/format/formats/responses/codec.ts';
import { descriptors } from '../../../../../support/formats.ts';
import { runs } from '../../../../../support/runs.ts';

function fragmentsOf(events: readonly JsonObject[]): Fragment[] {
  const decoder = responsesCodec.createDecoder();
  return events.flatMap((event) => decoder.readEvent(String(event['type']), JSON.stringify(event)));
}

function guarded(fragments: readonly Fragment[]): {
  reply: CompleteReply | undefined;
  failure: GatewayError | undefined;
  losses: readonly string[];
} {
  const guard = new GrammarGuard({
    toolNames: new ToolNames({ tools: [], items: [] }, commonNameRules),
    tagState: (kind, data) => `${kind}=${data}`,
    exchangeId: 'x',
    estimateInputTokens: () => 25,
  });
  guard.push(fragments);
  return { reply: guard.reply, failure: guard.failure, losses: guard.notes.entries };
}

const replyTo = (events: readonly JsonObject[]) => guarded(fragmentsOf(events)).reply;
const wholeReply = (body: JsonObject) => guarded(responsesCodec.createDecoder().readWhole(body)).reply;

const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 29,
};
const thought = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'First.' },
    { type: 'summary_text', text: 'Second.' },
  ],
  encrypted_content: 'gAAA',
};
const annotation = { type: 'url_citation', url: 'https://e.com', title: 'E', start_index: 0, end_index: 5 };
const said = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello you', annotations: [annotation], logprobs: [] }],
};
const called = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"sky"}' };
const patched = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: '*** Begin' };
const output = [thought, said, called, patched];
const completed = (more: JsonObject = {}) => ({
  type: 'response.completed',
  response: { id: 'resp_1', object: 'response', status: 'completed', error: null, output, usage, ...more },
});
const ofItem = (item: { id: string }, output_index: number) => ({ item_id: item.id, output_index });

const argumentsOf = (item: { id: string }, index: number, delta: string) => ({
  type: 'response.function_call_arguments.delta',
  ...ofItem(item, index),
  delta,
});

/** A reply as OpenAI streams it. */
const recorded: readonly JsonObject[] = [
  { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [], usage: null } },
  { type: 'response.in_progress', response: { id: 'resp_1', status: 'in_progress', output: [], usage: null } },
  { type: 'response.output_item.added', output_index: 0, item: { id: 'rs_1', type: 'reasoning', summary: [] } },
  { type: 'response.reasoning_summary_part.added', ...ofItem(thought, 0), summary_index: 0, part: { text: '' } },
  { type: 'response.reasoning_summary_text.delta', ...ofItem(thought, 0), summary_index: 0, delta: 'Fir' },
  { type: 'response.reasoning_summary_text.delta', ...ofItem(thought, 0), summary_index: 0, delta: 'st.' },
  { type: 'response.reasoning_summary_text.done', ...ofItem(thought, 0), summary_index: 0, text: 'First.' },
  { type: 'response.reasoning_summary_text.delta', ...ofItem(thought, 0), summary_index: 1, delta: 'Second.' },
  { type: 'response.output_item.done', output_index: 0, item: thought },
  { type: 'response.output_item.added', output_index: 1, item: { ...said, status: 'in_progress', content: [] } },
  {
    type: 'response.content_part.added',
    ...ofItem(said, 1),
    content_index: 0,
    part: { type: 'output_text', text: '' },
  },
  { type: 'response.output_text.delta', ...ofItem(said, 1), content_index: 0, delta: 'Hello' },
  { type: 'response.output_text.annotation.added', ...ofItem(said, 1), content_index: 0, annotation },
  { type: 'response.output_text.delta', ...ofItem(said, 1), content_index: 0, delta: ' you' },
  { type: 'response.output_text.done', ...ofItem(said, 1), content_index: 0, text: 'Hello you' },
  { type: 'response.content_part.done', ...ofItem(said, 1), content_index: 0, part: said.content[0] as JsonObject },
  { type: 'response.output_item.done', output_index: 1, item: said },
  { type: 'response.output_item.added', output_index: 2, item: { ...called, arguments: '' } },
  { type: 'response.function_call_arguments.delta', ...ofItem(called, 2), delta: '{"at":' },
  { type: 'response.function_call_arguments.delta', ...ofItem(called, 2), delta: '"sky"}' },
  { type: 'response.function_call_arguments.done', ...ofItem(called, 2), arguments: '{"at":"sky"}' },
  { type: 'response.output_item.done', output_index: 2, item: called },
  { type: 'response.output_item.added', output_index: 3, item: { ...patched, input: '' } },
  { type: 'response.custom_tool_call_input.delta', ...ofItem(patched, 3), delta: '*** Begin' },
  { type: 'response.custom_tool_call_input.done', ...ofItem(patched, 3), input: '*** Begin' },
  { type: 'response.output_item.done', output_index: 3, item: patched },
  completed(),
];

const expected = {
  blocks: [
    { type: 'reasoning', text: 'First.\n\nSecond.', state: 'encrypted=rs_1:gAAA', isRedacted: false },
    { type: 'text', text: 'Hello you', citations: [{ url: 'https://e.com', title: 'E', start: 0, end: 5 }] },
    { type: 'tool_call', id: 'call_1', name: 'look', form: 'function', input: '{"at":"sky"}' },
    { type: 'tool_call', id: 'call_2', name: 'patch', form: 'freeform', input: '*** Begin' },
  ],
  finish: 'tool_calls',
  usage: { input: 20, output: 9, cacheRead: 5, cacheWrite: 2, reasoning: 3 },
};

/** All but the events whose type matches. */
const without = (pattern: RegExp) => recorded.filter(({ type }) => !pattern.test(String(type)));
const renamed = (change: (event: JsonObject, index: number) => JsonObject) => recorded.map(change);

const part = (text: string) => ({ type: 'output_text', text });
const refusalPart = (refusal: string) => ({ type: 'refusal', refusal });
/** The texts of a message with this content, streamed in these deltas before. */
const textsOf = (
  streamed: readonly [index: number, ...deltas: string[]][],
  content: JsonObject[],
  kind = 'output_text',
) => {
  const item = { ...said, content };
  const deltas = streamed.flatMap(([content_index, ...pieces]) =>
    pieces.map((delta) => ({
      type: `response.${kind}.delta`,
      item_id: 'msg_1',
      output_index: 0,
      content_index,
      delta,
    })),
  );
  const reply = replyTo([
    { type: 'response.output_item.added', output_index: 0, item: { ...said, content: [] } },
    ...deltas,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { status: 'completed', output: [item] } },
  ]);
  return reply?.blocks.map(contentOf);
};

describe('decoding a Responses reply', () => {
  it('a Responses stream is decoded', () => {
    expect(replyTo(recorded)).toMatchObject(expected);
  });

  it('a whole Responses reply is decoded', () => {
    expect(wholeReply({ ...completed().response })).toMatchObject(expected);
  });

  it('a Responses reply is decoded to the same answer whichever repetitions are left out', () => {
    const variants = [
      without(/\.added$/),
      without(/\.delta$/),
      without(/(text|arguments|input|part)\.done$/),
      without(/output_item\.done$/),
      without(/delta$|(text|arguments|input|part)\.done$|annotation/),
      without(/delta$|added$|(text|arguments|input|part)\.done$/),
      without(/^response\.(?!completed)/),
      [...without(/completed/), completed({ output: [] })],
      [...without(/completed/), completed({ output: null })],
    ];
    for (const [number, variant] of variants.entries()) {
      const blocks = replyTo(variant)?.blocks;
      expect(blocks?.map(contentOf), `variant ${number}`).toEqual([
        'First.\n\nSecond.',
        'Hello you',
        '{"at":"sky"}',
        '*** Begin',
      ]);
    }
  });

  it('a Responses stream may have changing ids, equal indexes, or neither', () => {
    const variants = [
      renamed((event, index) => (event['item_id'] === undefined ? event : { ...event, item_id: `other_${index}` })),
      renamed((event) => (event['output_index'] === undefined ? event : { ...event, output_index: 0 })),
      renamed((event) => ({ ...event, output_index: null })),
      renamed((event) => ({ ...event, item_id: null })),
      renamed((event) => ({ ...event, item_id: null, output_index: null })),
    ];
    for (const variant of variants) expect(replyTo(variant)).toMatchObject(expected);
  });

  it('a Responses stream needs no event lines', () => {
    const decoder = responsesCodec.createDecoder();
    const fragments = recorded.flatMap((event) => decoder.readEvent(undefined, JSON.stringify(event)));
    expect(guarded(fragments).reply).toMatchObject(expected);
  });

  describe('the texts of a Responses message that were streamed under other indexes than those of its finished form', () => {
    it('are not added again', () => {
      expect(textsOf([[1, 'Hello ', 'world']], [part('Hello world')])).toEqual(['Hello world']);
      expect(textsOf([[1, 'I ', 'will not']], [refusalPart('I will not')], 'refusal')).toEqual(['I will not']);
      expect(
        textsOf(
          [
            [1, 'a'],
            [2, 'b'],
          ],
          [part('a'), part('b')],
        ),
      ).toEqual(['a', 'b']);
      expect(
        textsOf(
          [
            [2, 'a'],
            [3, 'b'],
          ],
          [part('a'), part('b')],
        ),
      ).toEqual(['a', 'b']);
    });

    it('get their missing end', () => {
      expect(textsOf([[3, 'Hello ']], [part('Hello world')])).toEqual(['Hello world']);
    });

    it('are the same where only white space differs', () => {
      expect(textsOf([[1, '\n\nHello  world ']], [part('Hello world')])).toEqual(['\n\nHello  world ']);
      expect(textsOf([[1, 'Hello world']], [part(' Hello\nworld\n')])).toEqual(['Hello world']);
      expect(textsOf([[1, '\nHello']], [part('Hello world')])).toEqual(['\nHello world']);
      expect(textsOf([[0, '\nHello']], [part('Hello world')])).toEqual(['\nHello world']);
    });

    it('stay as they were streamed where the finished form says something else', () => {
      expect(textsOf([[0, 'Hello']], [part('Hell no')])).toEqual(['Hello']);
      expect(textsOf([[1, 'Hello']], [part('Hell no')])).toEqual(['Hello']);
    });

    it('are matched once each, so that two parts of equal words stay two', () => {
      expect(textsOf([[0, 'Hi']], [part('Hi'), part('Hi')])).toEqual(['Hi', 'Hi']);
      expect(textsOf([[2, 'Hi']], [part('Hi'), part('Hi')])).toEqual(['Hi', 'Hi']);
      expect(textsOf([[5, 'Hi']], [part('Hi'), part('Bye')])).toEqual(['Hi', 'Bye']);
    });
  });

  it('a Responses message, and a part of reasoning, may lack its type', () => {
    const untyped = { id: 'r', type: 'reasoning', summary: [{ text: 'Why' }] };
    expect(wholeReply({ status: 'completed', output: [untyped], usage })?.blocks).toMatchObject([{ text: 'Why' }]);
    const content = [{ type: 'output_text', text: 'Hi', annotations: [] }];
    expect(wholeReply({ status: 'completed', output: [{ id: 'm', content }] })?.blocks).toMatchObject([{ text: 'Hi' }]);
  });

  it('events behind the end of their Responses item add nothing', () => {
    const place = { item_id: 'm', output_index: 0, content_index: 0 };
    const item = { id: 'm', type: 'message', content: [part('Hi')] };
    const late = { type: 'response.content_part.added', ...place, part: part('') };
    const reply = replyTo([
      { type: 'response.output_text.delta', ...place, delta: 'Hi' },
      { type: 'response.output_item.done', output_index: 0, item },
      late,
      { type: 'response.output_text.done', ...place, text: 'Hi' },
      { type: 'response.completed', response: { status: 'completed', output: [item] } },
    ]);
    expect(reply?.blocks.map(contentOf)).toEqual(['Hi']);
  });

  it('Responses deltas with log probabilities keep them among deltas without', () => {
    const place = { item_id: 'm', output_index: 0, content_index: 0 };
    const token = { token: 'b', logprob: -1, bytes: [98], top_logprobs: [] };
    const tokens = [[], [], [token], []];
    const fragments = fragmentsOf(
      tokens.map((logprobs, index) => {
        const numbered = { type: 'response.output_text.delta', sequence_number: index, ...place };
        return { ...numbered, delta: 'abcd'.charAt(index), logprobs };
      }),
    );
    const texts = fragments.filter(({ type }) => type === 'text');
    const [a, b, d] = ['a', 'b', 'd'].map((text) => ({ type: 'text', text }));
    expect(texts).toEqual([a, b, { type: 'text', text: 'c', logprobs: [token] }, d]);
  });

  it('a stream that ends as completed is, although its response has an error', () => {
    const error = { code: 'server_error', message: 'a tool broke' };
    expect(replyTo([completed({ error })])).toEqual(replyTo([completed()]));
  });

  it('two messages of a Responses answer are paragraphs, streamed and whole, and parts of one are not', () => {
    const items = [
      { ...said, id: 'm1', content: [part('I look'), part(' at it.')] },
      { ...said, id: 'm2', content: [part('Done.')] },
    ];
    const paragraphs = [undefined, undefined, true];
    const events = items.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, content: [] } },
      { type: 'response.output_item.done', output_index, item },
    ]);
    for (const reply of [
      replyTo([...events, completed({ output: items })]),
      wholeReply({ status: 'completed', output: items }),
    ])
      expect(reply?.blocks.map((block) => (block.type === 'text' ? block.isParagraph : null))).toEqual(paragraphs);
  });

  it('interleaved Responses calls are kept apart', () => {
    const other = { ...called, id: 'fc_2', call_id: 'call_9' };
    expect(
      replyTo([
        { type: 'response.output_item.added', output_index: 0, item: { ...called, arguments: '' } },
        { type: 'response.output_item.added', output_index: 1, item: { ...other, arguments: '' } },
        argumentsOf(called, 0, '{"a"'),
        argumentsOf(other, 1, '{"b"'),
        argumentsOf(called, 0, ':1}'),
        argumentsOf(other, 1, ':2}'),
        completed({ output: [] }),
      ])?.blocks,
    ).toMatchObject([
      { id: 'call_1', input: '{"a":1}' },
      { id: 'call_9', input: '{"b":2}' },
    ]);
  });

  it.each([
    ['function_call', called, { ...called, call_id: 'call_other' }],
    [
      'tool_search_call',
      { id: 'tsc_1', type: 'tool_search_call', call_id: 'call_1', execution: 'client', arguments: {} },
      { id: 'tsc_1', type: 'tool_search_call', call_id: 'call_other', execution: 'client', arguments: { query: 'x' } },
    ],
  ])('a Responses %s that is done under another call id stays one call', (_type, added, done) => {
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { ...added, arguments: '' } },
      { type: 'response.output_item.done', output_index: 0, item: done },
    ];
    for (const repeated of [[], [done], [added]]) {
      const blocks = replyTo([...events, completed({ output: repeated })])?.blocks;
      expect(blocks?.map(({ type }) => type)).toEqual(['tool_call']);
      expect(blocks).toMatchObject([{ id: 'call_1', input: JSON.stringify(done.arguments).replace(/^"|\\|"$/g, '') }]);
    }
  });

  it('a Responses refusal is decoded', () => {
    const refused = { ...said, content: [{ type: 'refusal', refusal: 'I will not.' }] };
    expect(wholeReply({ status: 'completed', output: [refused] })).toMatchObject({
      blocks: [{ type: 'refusal', text: 'I will not.' }],
      finish: 'stop',
    });
    expect(
      replyTo([
        { type: 'response.refusal.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'I will' },
        { type: 'response.refusal.done', item_id: 'm', output_index: 0, content_index: 0, refusal: 'I will not.' },
        completed({ output: [] }),
      ])?.blocks,
    ).toMatchObject([{ type: 'refusal', text: 'I will not.' }]);
  });

  it('Responses reasoning text is decoded under either event name', () => {
    for (const type of ['response.reasoning_text.delta', 'response.reasoning.delta']) {
      expect(
        replyTo([
          { type, item_id: 'rs_1', output_index: 0, content_index: 0, delta: 'Hm.' },
          {
            type: 'response.output_item.done',
            output_index: 0,
            item: { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
          },
          completed({ output: [said] }),
        ])?.blocks,
      ).toMatchObject([{ type: 'reasoning', text: 'Hm.' }, { type: 'text' }]);
    }
  });

  it('Responses reasoning that is repeated with other white space comes once', () => {
    const summary = [{ type: 'summary_text', text: 'First. Then.' }];
    const events = [
      {
        type: 'response.reasoning_text.delta',
        item_id: 'rs_1',
        output_index: 0,
        content_index: 1,
        delta: '\nFirst.\n',
      },
      { type: 'response.reasoning_text.delta', item_id: 'rs_1', output_index: 0, content_index: 1, delta: 'Then.\n' },
      { type: 'response.output_item.done', output_index: 0, item: { id: 'rs_1', type: 'reasoning', summary } },
      completed({ output: [said] }),
    ];
    expect(replyTo(events)?.blocks).toMatchObject([{ type: 'reasoning', text: '\nFirst.\nThen.\n' }, { type: 'text' }]);
  });

  it('encrypted Responses reasoning may lack text', () => {
    const tagged = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAA' };
    expect(wholeReply({ status: 'completed', output: [tagged, said] })?.blocks[0]).toMatchObject({
      text: '',
      state: 'encrypted=rs_1:gAAA',
    });
  });

  it('Responses groups and client searches keep their names', () => {
    const search = { id: 'ts', type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { query: 'x' } };
    expect(
      wholeReply({ status: 'completed', output: [{ ...called, namespace: 'eyes' }, search] })?.blocks,
    ).toMatchObject([
      { name: 'look', namespace: 'eyes' },
      { name: 'tool_search', form: 'tool_search', input: '{"query":"x"}' },
    ]);
  });

  it("Responses items of the vendor's own tools are left out", () => {
    const search = { id: 'ts', type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} };
    const browsed = { id: 'ws', type: 'web_search_call', status: 'completed', action: { type: 'search' } };
    expect(wholeReply({ status: 'completed', output: [search, browsed, said] })?.blocks).toHaveLength(1);
  });

  describe('notes on parts of a Responses answer that no other format can express', () => {
    const items: JsonObject[] = [
      { id: 'ws', type: 'web_search_call', status: 'completed', action: { type: 'search' } },
      { id: 'ts', type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} },
      { id: 'h', type: 'hologram' },
      { id: 'u', type: 'Set-Cookie: a' },
    ];
    const told = ['web_search_call', 'tool_search_call', 'hologram', 'unknown items'].map(
      (what) => `dropped ${what} in the answer`,
    );
    const response = { status: 'completed', output: [...items, said], usage };

    it('a whole Responses reply has the notes', () => {
      expect(guarded(responsesCodec.createDecoder().readWhole(response)).losses).toEqual(told);
    });

    it.each([
      ['model_mismatch', ['dropped request reasoning at the upstream']],
      ['turn_boundary', []],
    ])('reasoning of the request that OpenAI withholds (%s) is noted unless its turn is over', (reason, notes) => {
      const withheld = [{ id: 'rs_1', type: 'reasoning', action: 'removed', reason }];
      const answer = { status: 'completed', output: [said], usage, input_transformations: withheld };
      expect(guarded(responsesCodec.createDecoder().readWhole(answer)).losses).toEqual(notes);
      expect(guarded(fragmentsOf([{ type: 'response.completed', response: answer }])).losses).toEqual(notes);
    });

    it('a Responses stream that repeats everything at its end has each note once', () => {
      const events = items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }));
      const { losses, reply } = guarded(fragmentsOf([...events, { type: 'response.completed', response }]));
      expect(losses).toEqual(told);
      expect(reply?.blocks).toHaveLength(1);
    });
  });

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
    [undefined, 'length'],
  ])('a Responses answer that is incomplete because of %s ends with %s', (reason, finish) => {
    const response = { status: 'incomplete', incomplete_details: { reason }, output: [said], usage };
    expect(replyTo([{ type: 'response.incomplete', response }])?.finish).toBe(finish);
    expect(replyTo([{ type: 'response.completed', response }])?.finish).toBe(finish);
    expect(wholeReply(response)?.finish).toBe(finish);
  });

  it('a Responses reply may lack its usage', () => {
    expect(replyTo([...without(/completed/), completed({ usage: null })])?.usage.input).toBeGreaterThan(0);
  });
});

describe('decoding errors of a Responses reply', () => {
  it.each<JsonObject>([
    { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'broken' } } },
    { type: 'response.completed', response: { status: 'failed', error: { code: 'server_error', message: 'broken' } } },
    { type: 'error', code: 'server_error', message: 'broken', param: null },
    { type: 'error', error: { type: 'server_error', message: 'broken' } },
    { error: { message: 'broken' } },
    { error: 'broken' },
  ])('the error in the Responses event %j is decoded', (event) => {
    const decoder = responsesCodec.createDecoder();
    const name = typeof event['type'] === 'string' ? event['type'] : undefined;
    const { failure } = guarded(decoder.readEvent(name, JSON.stringify(event)));
    expect(failure).toMatchObject({ code: 'upstream_failed', message: expect.stringContaining('broken') });
  });

  it.each<JsonObject>([
    { status: 'failed', error: { code: 'server_error', message: 'broken' }, output: [] },
    { status: 'cancelled', output: [] },
    { status: 'queued', output: [] },
    { base_resp: { status_code: 1000, status_msg: 'broken' } },
    { object: 'error', message: 'broken' },
    {},
  ])('the error in the whole Responses reply %j is decoded', (body) => {
    expect(guarded(responsesCodec.createDecoder().readWhole(body)).failure?.code).toBe('upstream_failed');
  });

  it('any content of a Responses event named error is a failure', () => {
    for (const data of ['broke', '[]', '{"type":"of_its_own","message":"broke"}']) {
      expect(responsesCodec.createDecoder().readEvent('error', data)).toMatchObject([
        { type: 'error', error: { code: 'upstream_failed' } },
      ]);
    }
  });

  it('a Responses error about an overlong prompt has the words that make clients shorten it', () => {
    const error = { code: 'context_length_exceeded', message: 'Your input exceeds the context window' };
    const { failure } = guarded(fragmentsOf([{ type: 'response.failed', response: { status: 'failed', error } }]));
    expect(failure?.wording('openai').code).toBe('context_length_exceeded');
    expect(failure?.status(descriptors.responses)).toBe(400);
  });
});

describe('decoding arbitrary Responses replies', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const types = [...new Set(recorded.map(({ type }) => String(type))), 'error', 'keepalive', 'response.failed'];
  const item = fc.record(
    {
      type: fc.constantFrom('message', 'reasoning', 'function_call', 'tool_search_call', 'constructor'),
      id: value,
      call_id: value,
      name: value,
      arguments: value,
      content: fc.oneof(value, fc.array(fc.record({ type: value, text: value, annotations: value }))),
      summary: fc.oneof(value, fc.array(value)),
      encrypted_content: value,
    },
    { requiredKeys: [] },
  );
  const event = fc.record(
    {
      type: fc.oneof(fc.constantFrom(...types), fc.string()),
      item: fc.oneof(item, value),
      item_id: value,
      output_index: value,
      delta: fc.oneof(fc.string(), value),
      text: value,
      annotation: value,
      response: fc.oneof(fc.record({ status: value, output: fc.array(item), usage: value, error: value }), value),
    },
    { requiredKeys: [] },
  );

  it('the Responses decoder takes an index with a member toString for none', () => {
    const decoder = responsesCodec.createDecoder();
    expect(() => decoder.readEvent(undefined, '{"output_index":{"toString":""}}')).not.toThrow();
  });

  it('the Responses decoder never throws, and a whole reply always ends', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(event, value)), fc.string(), (events, rubbish) => {
        const decoder = responsesCodec.createDecoder();
        const fragments = events.flatMap((one) => decoder.readEvent(undefined, JSON.stringify(one)));
        fragments.push(...decoder.readEvent('response.completed', rubbish), ...decoder.readEvent(undefined, '[DONE]'));
        guarded(fragments);
        const body = events[0];
        if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
        const last = responsesCodec
          .createDecoder()
          .readWhole(body as JsonObject)
          .at(-1);
        expect(['end', 'error']).toContain(last?.type);
      }),
      runs(100),
    );
  });
});

it.each([
  [false, 9, 'length'],
  [false, 10, 'stop'],
  [true, 9, 'stop'],
])('a reply that has used up its limit of output tokens is cut, except OpenAI’s: %j, %d', (betas, limit, reason) => {
  const response = { status: 'completed', output: [], usage, max_output_tokens: limit };
  const profile = mergeProfiles({ quirks: { betas } });
  const event = JSON.stringify({ type: 'response.completed', response });
  const finish = { type: 'finish', reason };
  expect(responsesCodec.createDecoder(profile).readWhole(response)).toContainEqual(finish);
  expect(responsesCodec.createDecoder(profile).readEvent('response.completed', event)).toContainEqual(finish);
});
