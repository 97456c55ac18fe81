import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { chatCodec } from '../../../../plugins/format/formats/chat/codec.ts';
import { geminiCodec } from '../../../../plugins/format/formats/gemini/codec.ts';
import { messagesCodec } from '../../../../plugins/format/formats/messages/codec.ts';
import { responsesCodec } from '../../../../plugins/format/formats/responses/codec.ts';

const inline = (mimeType: string) => (data: string) => ({
  contents: [{ role: 'user', parts: [{ inlineData: { mimeType, data } }] }],
});
const messages = (type: string, media_type: string) => (data: string) => ({
  messages: [{ role: 'user', content: [{ type, source: { type: 'base64', media_type, data } }] }],
  max_tokens: 1,
});
const chat = (part: (data: string) => JsonObject) => (data: string) => ({
  messages: [{ role: 'user', content: [part(data)] }],
});
const responses = (part: (data: string) => JsonObject) => (data: string) => ({
  input: [{ role: 'user', content: [part(data)] }],
});

describe.each([
  ['an image of a Gemini client', geminiCodec, inline('image/png')],
  ['a PDF of a Gemini client', geminiCodec, inline('application/pdf')],
  ['audio of a Gemini client', geminiCodec, inline('audio/wav')],
  ['an image of a Messages client', messagesCodec, messages('image', 'image/png')],
  ['a PDF of a Messages client', messagesCodec, messages('document', 'application/pdf')],
  [
    'an image of a Chat client',
    chatCodec,
    chat((data) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } })),
  ],
  [
    'audio of a Chat client',
    chatCodec,
    chat((data) => ({ type: 'input_audio', input_audio: { data, format: 'wav' } })),
  ],
  ['a file of a Chat client', chatCodec, chat((data) => ({ type: 'file', file: { file_data: data } }))],
  [
    'an image of a Responses client',
    responsesCodec,
    responses((data) => ({ type: 'input_image', image_url: `data:image/png;base64,${data}` })),
  ],
])('%s', (_, codec, request) => {
  const read = (data: string) => JSON.stringify(codec.decodeRequest(request(data), new Notes()).items);

  it('is standard base64 for other formats, however the client has written it', () => {
    expect(read('_9j-_w')).toContain('"/9j+/w=="');
  });

  it('is refused with its place if it is not base64', () => {
    expect(() => read('no base64!')).toThrow(/(contents|messages|input)\[0\].*base64/);
  });
});
