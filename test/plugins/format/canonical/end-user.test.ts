import { describe, expect, it } from 'vitest';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { chatCodec } from '../../../../plugins/format/formats/chat/codec.ts';
import { chat } from '../../../../plugins/format/formats/chat/descriptor.ts';
import { responsesCodec } from '../../../../plugins/format/formats/responses/codec.ts';
import { responses } from '../../../../plugins/format/formats/responses/descriptor.ts';
import { encodeWith } from '../codec-fixture.ts';

const said = { user: 'u', safety_identifier: 's' };

describe.each([
  ['chat', 'responses', chatCodec, responses, { messages: [{ role: 'user', content: 'Hi' }], ...said }],
  ['responses', 'chat', responsesCodec, chat, { input: 'Hi', ...said }],
])('safety_identifier from %s to %s', (_from, _to, codec, upstream, request) => {
  const conversation = codec.decodeRequest(request, new Notes());

  it('stays itself for OpenAI, next to the user', () => {
    const { body, notes } = encodeWith(upstream, conversation, { profile: { quirks: { betas: true } } });
    expect([body, notes]).toMatchObject([said, []]);
  });

  it('becomes the user for other vendors, with a note', () => {
    const { body, notes } = encodeWith(upstream, conversation, {});
    expect(body).toMatchObject({ user: 's' });
    expect(body['safety_identifier']).toBeUndefined();
    expect(notes).toEqual(['approximated safety_identifier as user', 'dropped user']);
  });
});

it('a chat completion that should be stored is noted as not stored', () => {
  const notes = new Notes();
  chatCodec.decodeRequest({ messages: [{ role: 'user', content: 'Hi' }], store: true }, notes);
  expect(notes.entries).toEqual(['dropped store']);
});
