import { describe, expect, it } from 'vitest';
import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Item, Part } from '../../../../../../plugins/format/canonical/conversation.ts';
import { base64, block, calls, encode, parameters, picture, returns, says, text, thinks, used } from '../fixture.ts';

const hi = says('user', 'Hi');
const messagesOf = (items: Item[], profile: ProfileSettings = {}) => encode({ items }, profile).body['messages'];
const userSays = (...parts: Part[]): Item => ({ type: 'message', role: 'user', parts });
const contentOf = (parts: Part[], profile: ProfileSettings = {}) =>
  (messagesOf([userSays(...parts)], profile) as { content: JsonObject[] }[])[0]?.content;
const file = (mediaType: string, data: string, name?: string): Part => ({
  type: 'file',
  source: { type: 'base64', mediaType, data },
  name,
});

describe('writing Messages messages', () => {
  it('Messages begin with a user', () => {
    const { body, notes } = encode({ items: [says('assistant', 'Hi')] });
    expect(body['messages']).toEqual([
      { role: 'user', content: [block('Begin.')] },
      { role: 'assistant', content: [block('Hi')] },
    ]);
    expect(notes).toEqual(['approximated conversation that does not begin with a user message']);
    expect(messagesOf([])).toEqual([{ role: 'user', content: [block('Begin.')] }]);
  });

  it('Messages of one side are joined, and texts without a visible character are left out', () => {
    expect(messagesOf([hi, says('user', ' \n'), says('user', 'there'), says('assistant', '  ')])).toEqual([
      { role: 'user', content: [block('Hi'), block('there')] },
    ]);
  });

  it('a prefilled Messages answer does not end in white space', () => {
    expect(messagesOf([hi, says('assistant', 'It is \n')])).toMatchObject([{}, { content: [block('It is')] }]);
  });

  it('system messages are sent to Messages where they are accepted, and as reminders elsewhere', () => {
    const items = [hi, says('system', 'Be brief.'), says('assistant', 'Yes'), says('system', 'In French.'), hi];
    expect(messagesOf(items, parameters({ late_system: true }))).toEqual([
      { role: 'user', content: [block('Hi')] },
      { role: 'system', content: [block('Be brief.')] },
      { role: 'assistant', content: [block('Yes')] },
      { role: 'user', content: [block('<system-reminder>\nIn French.\n</system-reminder>'), block('Hi')] },
    ]);
    const { body, notes } = encode({ items });
    expect(body['messages']).toMatchObject([
      { role: 'user', content: [block('Hi'), block('<system-reminder>\nBe brief.\n</system-reminder>')] },
      { role: 'assistant' },
      { role: 'user' },
    ]);
    expect(notes).toEqual(['approximated late system message as user message']);
  });

  it('Messages images have the media type of their bytes', () => {
    const source = { type: 'base64', mediaType: 'image/png', data: '/9j/4A' } as const;
    const url = { type: 'url', url: 'https://a.example/b.png' } as const;
    expect(
      contentOf([
        { ...picture, source, detail: 'high' } as Part,
        { type: 'image', source: url, detail: undefined },
        { type: 'image', source: { type: 'id', id: 'file_1', vendor: 'anthropic' }, detail: undefined },
        file('image/gif', 'R0lGODlh', 'a.gif'),
      ]),
    ).toEqual([
      { type: 'image', source: base64('image/jpeg', '/9j/4A') },
      { type: 'image', source: url },
      { type: 'image', source: { type: 'file', file_id: 'file_1' } },
      { type: 'image', source: base64('image/gif', 'R0lGODlh') },
    ]);
  });

  it('Messages documents are files, and text files are text documents', () => {
    expect(contentOf([file('application/pdf', 'JVBE', 'Report'), file('text/plain', 'SGkh', 'a.txt')])).toEqual([
      { type: 'document', source: base64('application/pdf', 'JVBE'), title: 'Report' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hi!' }, title: 'a.txt' },
    ]);
    const capabilities = { files: false };
    expect(contentOf([file('application/json', 'e30=', 'a.json')], { capabilities })).toEqual([block('a.json\n\n{}')]);
  });

  it('media that the Messages model does not support are refused', () => {
    const capabilities = { images: false, files: false };
    const sound: Part = { type: 'audio', data: 'UklG', format: 'wav' };
    for (const part of [picture, file('application/pdf', 'JVBE'), sound, file('application/zip', 'UEsD')]) {
      expect(() => contentOf([part], { capabilities })).toThrow(
        expect.objectContaining({ code: 'unsupported_content' }),
      );
    }
    expect(() => contentOf([sound])).toThrow(expect.objectContaining({ code: 'unsupported_content' }));
  });

  it('an assistant message of Messages has only text', () => {
    const parts: Part[] = [text('Yes'), { type: 'refusal', text: 'No.' }, picture];
    const { body, notes } = encode({ items: [hi, { type: 'message', role: 'assistant', parts }, hi] });
    expect(body['messages']).toMatchObject([{}, { content: [block('Yes'), block('No.')] }, {}]);
    expect(body['messages']).toMatchObject([{}, {}, { content: [{ type: 'text' }, { type: 'image' }, block('Hi')] }]);
    expect(notes).toEqual(['approximated images in assistant messages as user message']);
  });
});

describe('writing Messages calls and results', () => {
  it('input of a Messages call is an object, whatever the model wrote', () => {
    const items = [
      hi,
      calls('c1', 'a', '{"x":1}'),
      calls('c2', 'b', ''),
      calls('c3', 'c', '{"x":'),
      calls('c4', 'patch', '*** Begin', { form: 'freeform' }),
    ];
    const { body, notes } = encode({ items });
    expect(body['messages']).toMatchObject([
      {},
      {
        content: [
          used('c1', 'a', { x: 1 }),
          used('c2', 'b', {}),
          used('c3', 'c', { _raw: '{"x":' }),
          used('c4', 'patch', { input: '*** Begin' }),
        ],
      },
      {},
    ]);
    expect(notes).toEqual(['approximated malformed input of a call']);
  });

  it('every Messages call has exactly one result directly after it', () => {
    const items = [
      hi,
      calls('c1', 'a', '{}'),
      calls('c2', 'b', '{}'),
      says('user', 'Wait'),
      returns('c2', [text('two')]),
      returns('gone', [text('left over')]),
    ];
    const { body } = encode({ items });
    expect(body['messages']).toMatchObject([
      {},
      { role: 'assistant', content: [used('c1', 'a', {}), used('c2', 'b', {})] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', is_error: true },
          { type: 'tool_result', tool_use_id: 'c2', content: [block('two')] },
          block('Wait'),
          block('left over'),
        ],
      },
    ]);
  });

  it('Messages ids have only letters, digits, - and _, and stay the same', () => {
    const items = [hi, calls('functions.a:0', 'a', '{}'), returns('functions.a:0', [text('x')])];
    const [, said, result] = messagesOf(items) as [unknown, ...{ content: JsonObject[] }[]];
    const id = said?.content[0]?.['id'];
    expect(id).toMatch(/^call_[0-9a-f]{24}$/);
    expect(result?.content[0]?.['tool_use_id']).toBe(id);
    expect(messagesOf(items)).toEqual(messagesOf(items));
  });

  it('images follow all Messages results if results cannot hold them', () => {
    const items = [
      hi,
      calls('c1', 'a', '{}'),
      calls('c2', 'b', '{}'),
      returns('c1', [picture]),
      returns('c2', [text('two')]),
      says('user', 'And?'),
    ];
    const { body, notes } = encode({ items }, parameters({ tool_result_images: false }));
    expect((body['messages'] as JsonObject[])[2]).toMatchObject({
      content: [
        { tool_use_id: 'c1', content: [block('Media from this tool follows.')] },
        { tool_use_id: 'c2', content: [block('two')] },
        { type: 'image' },
        block('And?'),
      ],
    });
    expect(notes).toEqual(['approximated images in tool results as user message']);
  });

  it('a failed Messages result has its message as text, and images separately', () => {
    const items = [
      hi,
      ...['c1', 'c2', 'c3'].map((id) => calls(id, 'a', '{}')),
      returns('c1', [], true),
      returns('c2', [text('broke'), picture], true),
      returns('c3', []),
    ];
    expect((messagesOf(items) as JsonObject[])[2]).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: [block('Error without a message.')], is_error: true },
        { type: 'tool_result', tool_use_id: 'c2', content: [block('broke')], is_error: true },
        { type: 'tool_result', tool_use_id: 'c3' },
        { type: 'image', source: base64('image/png', 'iVBO') },
      ],
    });
  });
});

describe('writing reasoning of earlier turns as Messages', () => {
  const redacted: Item = { type: 'reasoning', text: '', state: { kind: 'redacted', origin: 'own', data: 'Zz' } };
  const noSignature: Item = { type: 'reasoning', text: 'Free.', state: undefined };

  it('Messages reasoning is sent only to the upstream that made it', () => {
    const items = [
      hi,
      thinks('Mine.', 'EqQB'),
      redacted,
      thinks('Theirs.', 'Foreign', 'other'),
      noSignature,
      says('assistant', 'Done'),
      hi,
    ];
    const { body, notes } = encode({ items });
    expect((body['messages'] as JsonObject[])[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Mine.', signature: 'EqQB' },
        { type: 'redacted_thinking', data: 'Zz' },
        block('Done'),
      ],
    });
    expect(notes).toEqual(['dropped reasoning of earlier turns']);
  });

  it('Messages reasoning alone is not a turn', () => {
    expect(messagesOf([hi, noSignature, says('user', 'there')])).toEqual([
      { role: 'user', content: [block('Hi'), block('there')] },
    ]);
  });
});
