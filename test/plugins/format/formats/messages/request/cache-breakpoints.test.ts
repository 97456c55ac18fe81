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

  it('another Messages endpoint gets no breakpoints', () => {
    const messages = [
      { role: 'system', content: [part('S', mark)] },
      { role: 'user', content: [part('A', mark)] },
    ];
    expect(JSON.stringify(fromChat(messages, {}))).not.toContain('cache_control');
  });
});
