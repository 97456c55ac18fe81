import { describe, expect, it } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { QuirkSettings } from '#core/config/catalog/quirks.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { deriveOrigin } from '../../../../../plugins/format/canonical/opaque-state.ts';
import {
  missingSignatureMark,
  encodeSignature,
} from '../../../../../plugins/format/formats/gemini/request/thought-signature.ts';
import { ClientRequest } from '../../../../../plugins/format/request/client-request.ts';
import { RequestContent } from '../../../../../plugins/format/request/request-content.ts';
import { adaptRequest } from '../../../../../plugins/format/routes/pass-through/adapt-request.ts';
import { type Format, descriptors } from '../../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';

const routeAt = (url: string, profile: ProfileSettings = {}): Route =>
  routeTo(upstreamAt(url), { profile: mergeProfiles(profile) });
const route = routeAt('http://127.0.0.1:1/v1');
const own = deriveOrigin(route.upstream);
const foreign = deriveOrigin(routeAt('http://127.0.0.1:2/v1').upstream);
function requestOf(format: Format, body: JsonObject): ClientRequest {
  const text = JSON.stringify({ model: 'test', ...body });
  const isStream = body['stream'] === true;
  const content = RequestContent.fromText(text, JSON.parse(text) as JsonObject);
  return new ClientRequest({ format: descriptors[format], purpose: 'answer', model: 'test', isStream }, content);
}
const sent = (format: Format, body: JsonObject, to: Route = route) => {
  const { body: bytes, notes } = adaptRequest(requestOf(format, body), to);
  return { body: JSON.parse(String(bytes)) as JsonObject, notes };
};
const adaptedPart = (part: JsonObject, quirks: object = {}) => {
  const asks = { role: 'user', parts: [{ text: 'hi' }] };
  const body = { contents: [asks, { role: 'model', parts: [part] }] };
  const adapted = sent('gemini', body, routeAt('http://127.0.0.1:1/v1', { quirks }));
  return { parts: (adapted.body['contents'] as { parts: JsonObject[] }[])[1]?.parts, notes: adapted.notes };
};

describe('a request of the client’s own format', () => {
  it('keeps every byte but the model’s name', () => {
    const text = '{ "model" : "test", "big": 12345678901234567890, "messages": [ ] }';
    const content = RequestContent.fromText(text, JSON.parse(text) as JsonObject);
    const request = requestOf('messages', {}).with({}, content);
    expect(String(adaptRequest(request, route).body)).toBe(text.replace('test', 'model-there'));
  });

  it('to count tokens names the model of the route inside, too', () => {
    const packed = { model: 'models/test', contents: [{ parts: [{ text: 'hi' }] }] };
    const request = requestOf('gemini', { generateContentRequest: packed }).with({ purpose: 'count' });
    const { body } = adaptRequest(request, route);
    expect(JSON.parse(String(body))).toMatchObject({
      generateContentRequest: { ...packed, model: 'models/model-there' },
    });
  });

  it('keeps numbers in the input of a call that no double can say, also where it is written anew', () => {
    const input = '{"id":12345678901234567890}';
    const call = `{"type":"tool_use","id":"a","name":"look","input":${input}}`;
    const thinking = `{"type":"thinking","thinking":"hm","signature":"dps1s${own}.SIG"}`;
    const text = `{"model":"test","messages":[{"role":"assistant","content":[${thinking},${call}]}]}`;
    const request = requestOf('messages', {}).with({}, RequestContent.fromText(text, JSON.parse(text) as JsonObject));
    expect(String(adaptRequest(request, route).body)).toContain(`"input":${input}`);
  });

  it('has our tag removed from the state that this upstream made', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: `dps1s${own}.SIG` };
    const { body, notes } = sent('messages', { messages: [{ role: 'assistant', content: [thinking] }] });
    expect(body['messages']).toEqual([{ role: 'assistant', content: [{ ...thinking, signature: 'SIG' }] }]);
    expect(notes).toEqual([]);
  });

  it('has no empty lists where another upstream made everything', () => {
    const signed = { type: 'reasoning.encrypted', data: `dps1s${foreign}.SIG`, index: 0 };
    const answer = { role: 'assistant', content: 'hello' };
    const chat = sent('chat', { messages: [{ ...answer, reasoning_details: [signed] }] });
    expect(chat.body['messages']).toEqual([answer]);
    const thinking = { type: 'thinking', thinking: 'hm', signature: `dps1s${foreign}.SIG` };
    const asks = { role: 'user', content: 'hi' };
    const messages = sent('messages', { messages: [asks, { role: 'assistant', content: [thinking] }, asks] });
    expect(messages.body['messages']).toEqual([asks, asks]);
  });

  it('does not think on about results of calls that another upstream has made', () => {
    const call = { type: 'tool_use', id: 'call_1', name: 'look', input: {} };
    const loop = (signature: string): JsonObject => ({
      thinking: { type: 'enabled', budget_tokens: 2_048 },
      messages: [
        { role: 'user', content: 'look' },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature }, call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'there' }] },
      ],
    });
    const notes = ['dropped reasoning of another upstream', 'dropped reasoning until the end of this tool loop'];
    const settled = sent('messages', loop(`dps1s${foreign}.SIG`));
    expect(settled.body).not.toHaveProperty('thinking');
    expect(settled.notes).toEqual(notes);
    expect(sent('messages', loop(`dps1s${own}.SIG`)).body).toHaveProperty('thinking');
    const { messages, thinking } = loop(`dps1s${foreign}.SIG`);
    const asks = { role: 'user', content: 'and now?' };
    const before = messages as JsonObject[];
    expect(sent('messages', { thinking, messages: [...before, asks] }).body).not.toHaveProperty('thinking');
    const next = [...before, { role: 'assistant', content: 'there' }, asks];
    expect(sent('messages', { thinking, messages: next }).body).toHaveProperty('thinking');
  });

  it('loses the state that another upstream made', () => {
    const text = { type: 'text', text: 'hello' };
    const content = [
      { type: 'thinking', thinking: 'hm', signature: `dps1s${foreign}.SIG` },
      { type: 'redacted_thinking', data: `dps1x${foreign}.RED` },
      text,
    ];
    const { body, notes } = sent('messages', { messages: [{ role: 'assistant', content }] });
    expect(body['messages']).toEqual([{ role: 'assistant', content: [text] }]);
    expect(notes).toEqual(['dropped reasoning of another upstream']);
  });

  it('loses reasoning items of another upstream', () => {
    const mine = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: `dps1e${own}.ENC` };
    const theirs = { ...mine, encrypted_content: `dps1e${foreign}.ENC` };
    const { body } = sent('responses', { input: [theirs, mine] });
    expect(body['input']).toEqual([{ ...mine, encrypted_content: 'ENC' }]);
  });

  describe('in parts', () => {
    const call = { functionCall: { name: 'f', args: {} } };
    const notes = ['dropped reasoning of another upstream'];
    const thoughtSignature = encodeSignature(`dps1t${foreign}.SIG`);

    it('removes the tag from its own signatures', () => {
      const signed = encodeSignature(`dps1t${own}.SIG=`);
      expect(adaptedPart({ ...call, thoughtSignature: signed }).parts).toEqual([{ ...call, thoughtSignature: 'SIG=' }]);
      expect(adaptedPart({ ...call, thought_signature: signed }).parts).toEqual([
        { ...call, thought_signature: 'SIG=' },
      ]);
    });

    it('keeps the call whose signature another upstream made, with the placeholder', () => {
      const skipped = { ...call, thoughtSignature: 'skip_thought_signature_validator' };
      expect(adaptedPart({ ...call, thoughtSignature })).toEqual({ parts: [skipped], notes });
      expect(adaptedPart({ ...call, thoughtSignature }, { reasoning: 'budget' })).toEqual({ parts: [call], notes });
      expect(adaptedPart({ ...call, thoughtSignature: missingSignatureMark })).toEqual({ parts: [skipped], notes: [] });
    });

    it('lets both sides take turns where a content held only a signature', () => {
      const silent: JsonObject = { role: 'model', parts: [{ text: '', thoughtSignature }] };
      const answers: JsonObject = { role: 'model', parts: [{ text: 'So.' }] };
      const result = sent('gemini', {
        contents: [
          { role: 'user', parts: [{ text: 'a' }] },
          silent,
          { role: 'user', parts: [{ text: 'b' }] },
          answers,
          silent,
        ],
      });
      const joined = { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] };
      expect(result).toEqual({ body: { model: 'test', contents: [joined, answers] }, notes });
    });

    it('keeps texts, but not parts that held only a signature', () => {
      expect(adaptedPart({ text: 'So.', thoughtSignature })).toEqual({ parts: [{ text: 'So.' }], notes });
      expect(adaptedPart({ text: '', thoughtSignature })).toEqual({ parts: undefined, notes });
    });
  });

  it('asks a Chat upstream for the usage of a stream', () => {
    expect(sent('chat', { stream: true, messages: [] }).body['stream_options']).toEqual({ include_usage: true });
  });

  it('asks for it too when the client has declined it, and not without a stream', () => {
    const stream_options = { include_usage: false };
    const options = (more: JsonObject) =>
      sent('chat', { stream_options, messages: [], ...more }).body['stream_options'];
    expect([options({ stream: true }), options({})]).toEqual([{ include_usage: true }, stream_options]);
  });

  it.each<[string, QuirkSettings, JsonObject, JsonObject, string[]]>([
    ['sampling', { sampling: false }, { temperature: 0.5, top_p: 0.5 }, {}, ['dropped temperature', 'dropped top_p']],
    [
      'a limit too high',
      { max_output_tokens: 100 },
      { max_tokens: 500 },
      { max_tokens: 100 },
      ['approximated output token limit as 100'],
    ],
    [
      'the limit by another name',
      { max_tokens_name: 'max_completion_tokens' },
      { max_tokens: 5 },
      { max_completion_tokens: 5 },
      [],
    ],
    ['an end user', { end_user: false }, { user: 'u' }, {}, ['dropped user']],
    ['a stop sequence', { stop: 0 }, { stop: 'END' }, {}, ['approximated stop by cutting the answer']],
    [
      'stop sequences too many',
      { stop: 1 },
      { stop: ['END', 'FIN'] },
      { stop: ['END'] },
      ['approximated stop by cutting the answer'],
    ],
    ['stop sequences of several answers', { stop: 0 }, { n: 2, stop: 'END' }, { n: 2 }, ['dropped stop']],
  ])('has %s changed where the route needs it', (_name, quirks, given, expected, notes) => {
    const result = sent('chat', { messages: [], ...given }, routeAt('http://127.0.0.1:1/v1', { quirks }));
    expect(result).toEqual({ body: { model: 'model-there', messages: [], ...expected }, notes });
  });

  describe('in Gemini’s words', () => {
    const pro: QuirkSettings = { reasoning: 'level', efforts: ['low', 'high'] };
    const minimal = 'approximated reasoning effort as low';
    it.each<[string, QuirkSettings, JsonObject, JsonObject, string[]]>([
      [
        'sampling',
        { sampling: false },
        { temperature: 0.5, top_p: 0.5, topK: 4, presencePenalty: 1 },
        {},
        ['dropped temperature', 'dropped topP', 'dropped topK', 'dropped presencePenalty'],
      ],
      [
        'a limit too high',
        { max_output_tokens: 100 },
        { maxOutputTokens: 500 },
        { maxOutputTokens: 100 },
        ['approximated output token limit as 100'],
      ],
      [
        'a limit too high, in snake_case',
        { max_output_tokens: 100 },
        { max_output_tokens: 500 },
        { max_output_tokens: 100 },
        ['approximated output token limit as 100'],
      ],
      [
        'thinking',
        { reasoning: 'none' },
        { thinkingConfig: { thinkingBudget: 5_000, includeThoughts: true } },
        {},
        ['dropped reasoning'],
      ],
      [
        'the level of thinking',
        { reasoning: 'budget' },
        { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } },
        { thinkingConfig: { thinkingBudget: 2_048, includeThoughts: true } },
        [],
      ],
      [
        'a level that is not known',
        pro,
        { thinking_config: { thinking_level: 'MINIMAL' } },
        { thinking_config: { thinkingLevel: 'LOW' } },
        [minimal],
      ],
      [
        'no thinking at all',
        pro,
        { thinkingConfig: { thinkingBudget: 0 } },
        { thinkingConfig: { thinkingLevel: 'LOW' } },
        [minimal],
      ],
      [
        'no thinking by a budget',
        { reasoning: 'budget', efforts: ['minimal', 'low'] },
        { thinkingConfig: { thinkingBudget: 0 } },
        { thinkingConfig: { thinkingBudget: 1_024 } },
        ['approximated thinking budget as 1024'],
      ],
    ])('has %s changed where the route needs it', (_name, quirks, given, expected, notes) => {
      const to = routeAt('http://127.0.0.1:1/v1', { quirks });
      for (const name of ['generationConfig', 'generation_config']) {
        const result = sent('gemini', { contents: [], [name]: { ...given, seed: 1 } }, to);
        expect(result).toEqual({ body: { model: 'test', contents: [], [name]: { ...expected, seed: 1 } }, notes });
      }
    });

    it.each<[string, QuirkSettings, JsonObject]>([
      ['everything', {}, { temperature: 1, maxOutputTokens: 500, thinkingConfig: { thinkingLevel: 'HIGH' } }],
      ['a limit low enough', { max_output_tokens: 100 }, { maxOutputTokens: 100 }],
      ['what is not there', { sampling: false, reasoning: 'none' }, { temperature: null, thinkingConfig: null }],
      ['a budget where there are levels', { reasoning: 'level' }, { thinkingConfig: { thinkingBudget: 5_000 } }],
      ['a level that nobody knows yet', pro, { thinkingConfig: { thinkingLevel: 'ULTRA' } }],
    ])('keeps the very bytes with %s that the route takes', (_name, quirks, generationConfig) => {
      const request = requestOf('gemini', { contents: [], generationConfig });
      const to = routeAt('http://127.0.0.1:1/v1', { quirks });
      expect(adaptRequest(request, to)).toEqual({ body: request.content.bytes });
    });
  });

  it('leaves out members of its own that the route does not know, even null ones', () => {
    const to = routeAt('http://127.0.0.1:1/v1', { quirks: { reasoning: 'none', seed_name: 'random_seed' } });
    const chat = sent('chat', { messages: [], reasoning_effort: null, seed: null }, to);
    expect(Object.keys(chat.body).filter((name) => ['reasoning_effort', 'seed'].includes(name))).toEqual([]);
    const messages = sent('messages', { messages: [], max_tokens: 5, thinking: null }, to);
    expect(messages.body).not.toHaveProperty('thinking');
    expect([chat.notes, messages.notes]).toEqual([[], []]);
  });

  it('says system where only newer models know developer', () => {
    const messages = [{ role: 'developer', content: 'x' }];
    expect(sent('chat', { messages }).body['messages']).toEqual([{ role: 'system', content: 'x' }]);
  });
});
