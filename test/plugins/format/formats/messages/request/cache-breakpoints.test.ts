import { describe, expect, it } from 'vitest';
import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../../../plugins/format/canonical/notes.ts';
import { chatCodec } from '../../../../../../plugins/format/formats/chat/codec.ts';
import { responsesCodec } from '../../../../../../plugins/format/formats/responses/codec.ts';
import { encode } from '../fixture.ts';

const mark = { prompt_cache_breakpoint: { mode: 'explicit' } };
const anthropic: ProfileSettings['quirks'] = { automatic_caching: true, claude: true, late_system: true };
const cloud: ProfileSettings['quirks'] = { claude: true, late_system: true };
const ephemeral = { type: 'ephemeral' };

const fromChat = (messages: JsonObject[], quirks: ProfileSettings['quirks']) =>
  encode(chatCodec.decodeRequest({ model: 'm', messages }, new Notes()), { quirks }).body;
const fromResponses = (input: JsonObject[], quirks: ProfileSettings['quirks']) =>
  encode(responsesCodec.decodeRequest({ model: 'm', input }, new Notes()), { quirks }).body;
const calls = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const part = (text: string, more: JsonObject = {}) => ({ type: 'text', text, ...more });

describe('breakpoints of caches on the way to Claude', () => {
  it.each([
    ['prompt_cache_breakpoint', mark],
    ['cache_control', { cache_control: ephemeral }],
  ])('a system message of Chat with %s is cached by itself, besides the automatic breakpoint', (_name, more) => {
    const body = fromChat(
      [
        { role: 'system', content: [part('S', more)] },
        { role: 'user', content: 'Hi' },
      ],
      anthropic,
    );
    expect(body).toMatchObject({
      system: [{ type: 'text', text: 'S', cache_control: ephemeral }],
      cache_control: ephemeral,
      messages: [{ content: [{ type: 'text', text: 'Hi' }] }],
    });
  });

  it('a part of a user with a breakpoint keeps it, from Chat and from Responses, also at a cloud', () => {
    const content = [
      { type: 'text', text: 'A', cache_control: ephemeral },
      { type: 'text', text: 'B' },
    ];
    for (const quirks of [anthropic, cloud]) {
      const chat = fromChat([{ role: 'user', content: [part('A', mark), part('B')] }], quirks);
      expect(chat['messages']).toEqual([{ role: 'user', content }]);
      const input = [
        { type: 'input_text', text: 'A', ...mark },
        { type: 'input_text', text: 'B' },
      ];
      expect(fromResponses([{ role: 'user', content: input }], quirks)['messages']).toEqual([
        { role: 'user', content },
      ]);
    }
    expect(fromChat([{ role: 'user', content: [part('A', mark)] }], cloud)).not.toHaveProperty('cache_control');
  });

  it('a request has no more breakpoints than the endpoint takes, and all live equally long', () => {
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const texts = ['1', '2', '3', '4', '5'].map((text) => part(text, mark));
    const body = fromChat(
      [
        { role: 'system', content: [part('S', hour)] },
        { role: 'user', content: texts },
      ],
      anthropic,
    );
    const marks = JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g);
    expect(marks).toEqual(Array.from({ length: 4 }, () => '"cache_control":{"type":"ephemeral","ttl":"1h"}'));
    const [user] = body['messages'] as { content: JsonObject[] }[];
    expect(user?.content.filter((block) => block['cache_control'] !== undefined).map(({ text }) => text)).toEqual([
      '4',
      '5',
    ]);
  });

  it('a message with a mark is cached up to its end, whoever says it', () => {
    const control = { cache_control: ephemeral };
    const messages = [
      { role: 'user', content: 'A', ...control },
      { role: 'assistant', content: 'B', ...control, tool_calls: [calls] },
      { role: 'tool', tool_call_id: 'c', content: 'C', ...control },
    ];
    const body = fromChat(messages, cloud);
    const blocks = (body['messages'] as { content: JsonObject[] }[]).flatMap(({ content }) => content);
    expect(blocks.map(({ type, cache_control }) => [type, cache_control])).toEqual([
      ['text', ephemeral],
      ['text', ephemeral],
      ['tool_use', undefined],
      ['tool_result', ephemeral],
    ]);
  });

  it.each([
    ['on the tool', (name: string) => ({ type: 'function', function: { name }, cache_control: ephemeral })],
    ['in its function', (name: string) => ({ type: 'function', function: { name, cache_control: ephemeral } })],
  ])('the last of the tools with a mark keeps it, %s', (_where, tool) => {
    const tools = [tool('a'), tool('b'), { type: 'function', function: { name: 'c' } }];
    const asked = { model: 'm', messages: [{ role: 'user', content: [1, 2, 3, 4].map((n) => part(`${n}`, mark)) }] };
    const { body } = encode(chatCodec.decodeRequest({ ...asked, tools }, new Notes()), { quirks: anthropic });
    const marks = (body['tools'] as JsonObject[]).map(({ cache_control }) => cache_control);
    expect(marks).toEqual([undefined, ephemeral, undefined]);
    expect(JSON.stringify(body).match(/"cache_control"/g)).toHaveLength(4);
    const plain = encode(chatCodec.decodeRequest({ ...asked, tools }, new Notes()), { quirks: {} }).body;
    expect(JSON.stringify(plain)).not.toContain('cache_control');
  });

  it('a tool’s mark says how long the breakpoints live', () => {
    const hour = { type: 'ephemeral', ttl: '1h' };
    const tools = [{ type: 'function', function: { name: 'a' }, cache_control: hour }];
    const asked = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools };
    const { body } = encode(chatCodec.decodeRequest(asked, new Notes()), { quirks: anthropic });
    expect(body).toMatchObject({ tools: [{ cache_control: hour }], cache_control: hour });
  });

  it('another Messages endpoint gets no breakpoints', () => {
    const messages = [
      { role: 'system', content: [part('S', mark)] },
      { role: 'user', content: [part('A', mark)] },
    ];
    expect(JSON.stringify(fromChat(messages, {}))).not.toContain('cache_control');
  });
});
