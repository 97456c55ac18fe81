import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import type { QuirkSettings } from '#core/config/catalog/quirks.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { deriveOrigin } from '../../../../../plugins/format/canonical/opaque-state.ts';
import { openCall } from '../../../../../plugins/format/routes/model-call.ts';
import { type TextFormat, textFormats } from '../../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';
import { modelOf } from '../../catalog/catalog-fixture.ts';
import { exchange, requestOf } from '../../invariants/fixture.ts';

const upstream = upstreamAt('http://127.0.0.1:1/v1', { formats: ['messages'] });
const own = deriveOrigin(upstream);
const foreign = deriveOrigin(upstreamAt('http://127.0.0.1:2/v1'));
const asks = { role: 'user', content: 'look' };
const call = { type: 'tool_use', id: 'call_1', name: 'look', input: {} };
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'there' }] };
const signed = { type: 'thinking', thinking: 'hm', signature: `dps1s${own}.SIG` };
/** What a vendor without signatures requires where the thoughts are lost. */
const empty = { type: 'thinking', thinking: '', signature: '' };
const replays = { reasoning: 'budget', replay_reasoning: 'tool_turns', signed_thinking: false } as const;

/** The request that a Messages route gets. */
function sent(body: JsonObject, quirks: QuirkSettings = {}, client: TextFormat = 'messages') {
  const route = routeTo(upstream, { profile: mergeProfiles({ quirks }) });
  const request = requestOf(client, { model: 'test', max_tokens: 9, ...body }).with({ isStream: false });
  const { body: bytes, notes = [] } = openCall(exchange, modelOf('test', [], { routes: [route] }), request).encode(
    route,
  );
  return { text: String(bytes), body: JSON.parse(String(bytes)) as JsonObject, notes };
}

/** The assistant's content and the notes, for a history with a block before a call. */
function afterBlock(block: JsonObject, quirks?: QuirkSettings) {
  const messages = [asks, { role: 'assistant', content: [block, call] }, result];
  const { body, notes } = sent({ messages }, quirks);
  return { content: (body['messages'] as JsonObject[])[1]?.['content'], notes };
}

describe('thinking in a Messages request for a route that checks signatures', () => {
  it.each<[string, JsonObject, string[]]>([
    ['unsigned', { type: 'thinking', thinking: 'hm' }, ['dropped reasoning of unknown origin']],
    [
      'signed with nothing',
      { type: 'thinking', thinking: 'hm', signature: '' },
      ['dropped reasoning of unknown origin'],
    ],
    ['signed elsewhere', { ...signed, signature: 'raw' }, ['dropped reasoning of unknown origin']],
    ['of another route', { ...signed, signature: `dps1s${foreign}.SIG` }, ['dropped reasoning of another upstream']],
    [
      'of a vendor without signatures',
      { ...signed, signature: `dps1n${foreign}.` },
      ['dropped reasoning of another upstream'],
    ],
    ['redacted elsewhere', { type: 'redacted_thinking', data: 'raw' }, ['dropped reasoning of unknown origin']],
    ['empty', empty, []],
  ])('thinking that a route would reject is dropped: %s', (_name, block, notes) => {
    expect(afterBlock(block)).toEqual({ content: [call], notes });
  });

  it('signed thinking of this route keeps its place and loses our tag', () => {
    expect(afterBlock(signed)).toEqual({ content: [{ ...signed, signature: 'SIG' }, call], notes: [] });
    const redacted = { type: 'redacted_thinking', data: `dps1x${own}.RED` };
    expect(afterBlock(redacted)).toEqual({ content: [{ ...redacted, data: 'RED' }, call], notes: [] });
  });

  it('a Messages message that was only foreign thinking is left out', () => {
    const messages = [asks, { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }] }, asks];
    expect(sent({ messages }).body['messages']).toEqual([asks, asks]);
  });

  it('input of a call that looks like thinking stays unchanged', () => {
    const input = { type: 'thinking', thinking: 'hm' };
    const messages = [asks, { role: 'assistant', content: [{ ...call, input }] }, result];
    expect(sent({ messages }).body['messages']).toEqual(messages);
  });

  it('a thinking budget is turned off inside a tool loop that began without thinking', () => {
    const messages = [asks, { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }, call] }, result];
    const { body } = sent({ messages, thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 2_048 });
    expect(body).not.toHaveProperty('thinking');
  });
});

describe('thinking in a Messages request for a route without signatures', () => {
  const open = { signed_thinking: false };

  it('thinking without signatures keeps its bytes', () => {
    const body = {
      messages: [asks, { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: '' }, call] }],
    };
    expect(sent(body, open).text).toContain('{"type":"thinking","thinking":"hm","signature":""}');
    expect(sent(body, open).notes).toEqual([]);
  });

  it('thinking of another vendor keeps its text and loses its signature', () => {
    const unsigned = { type: 'thinking', thinking: 'hm', signature: '' };
    expect(afterBlock({ ...signed, signature: `dps1s${foreign}.SIG` }, open)).toEqual({
      content: [unsigned, call],
      notes: [],
    });
  });

  it('thinking without signatures stays on inside a tool loop that began without it', () => {
    const thinking = { type: 'enabled', budget_tokens: 1_024 };
    const messages = [asks, { role: 'assistant', content: [call] }, result];
    expect(sent({ messages, thinking, max_tokens: 2_048 }, { ...open, reasoning: 'budget' }).body).toMatchObject({
      thinking,
    });
  });
});

describe('a Messages route that wants thinking back', () => {
  it('turns with calls of Messages clients get an empty thinking block', () => {
    const messages = [asks, { role: 'assistant', content: 'hm' }, asks, { role: 'assistant', content: [call] }, result];
    expect(sent({ messages }, replays).body['messages']).toEqual([
      asks,
      messages[1],
      asks,
      { role: 'assistant', content: [empty, call] },
      result,
    ]);
  });

  it('turns get no empty thinking block when thinking is off or already there', () => {
    const messages = [asks, { role: 'assistant', content: [call] }, result];
    const off = { thinking: { type: 'disabled' }, messages };
    expect(sent(off, replays).body['messages']).toEqual(messages);
    expect(afterBlock({ type: 'thinking', thinking: 'hm', signature: '' }, replays).content).toHaveLength(2);
  });

  it.each(textFormats.filter((format) => format !== 'messages'))(
    'turns with calls of %s clients get an empty thinking block',
    (client) => {
      const histories: Partial<Record<TextFormat, JsonObject>> = {
        chat: {
          messages: [
            asks,
            {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
            },
            { role: 'tool', tool_call_id: 'call_1', content: 'there' },
          ],
        },
        responses: {
          input: [
            asks,
            { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
            { type: 'function_call_output', call_id: 'call_1', output: 'there' },
          ],
        },
        gemini: {
          contents: [
            { role: 'user', parts: [{ text: 'look' }] },
            { role: 'model', parts: [{ functionCall: { id: 'call_1', name: 'look', args: {} } }] },
            {
              role: 'user',
              parts: [{ functionResponse: { id: 'call_1', name: 'look', response: { result: 'there' } } }],
            },
          ],
        },
      };
      const { body } = sent(histories[client] ?? {}, replays, client);
      expect((body['messages'] as JsonObject[])[1]).toEqual({ role: 'assistant', content: [empty, call] });
    },
  );
});
