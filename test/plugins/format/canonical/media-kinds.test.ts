import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { ollama } from '../../../../plugins/format/formats/ollama/descriptor.ts';
import { conversational, type TextFormat, textFormats } from '../../../support/formats.ts';
import { decodeWith, encodeWith, refusalBy } from '../codec-fixture.ts';

const upstreams = { ...conversational, ollama };
type UpstreamName = keyof typeof upstreams;
const video = 'data:video/mp4;base64,AAAA';

/** A question with parts of a client's format, as a route of another gets it. */
function asked(client: TextFormat, upstream: UpstreamName, parts: JsonObject[], capabilities = {}) {
  const bodies: Readonly<Record<TextFormat, JsonObject>> = {
    chat: { messages: [{ role: 'user', content: parts }] },
    responses: { input: [{ role: 'user', content: parts }] },
    messages: { messages: [{ role: 'user', content: parts }], max_tokens: 9 },
    gemini: { contents: [{ role: 'user', parts }] },
  };
  const { conversation } = decodeWith(conversational[client].client.text, bodies[client]);
  return JSON.stringify(encodeWith(upstreams[upstream], conversation, { profile: { capabilities } }).body);
}

const videos: readonly (readonly [TextFormat, JsonObject])[] = [
  ['chat', { type: 'video_url', video_url: { url: video } }],
  ['chat', { type: 'file', file: { filename: 'a.mp4', file_data: video } }],
  ['responses', { type: 'input_file', filename: 'a.mp4', file_data: video }],
  ['gemini', { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } }],
];

describe.each(videos)('a video of a %s client', (client, part) => {
  it('is a video for Chat and Gemini', () => {
    expect(asked(client, 'chat', [part])).toContain(`{"type":"video_url","video_url":{"url":"${video}"}}`);
    expect(asked(client, 'gemini', [part])).toContain('{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}}');
  });

  it.each(['responses', 'messages', 'ollama'] as const)('is refused by its position on %s', (upstream) => {
    const text =
      client === 'gemini' ? { text: 'What is it?' } : { type: client === 'chat' ? 'text' : 'input_text', text: 'Eh?' };
    const refusal = refusalBy(() => asked(client, upstream, [text, part]));
    expect(refusal).toMatchObject({ code: 'unsupported_content', message: 'This model does not accept videos.' });
    expect(refusal.details.param).toMatch(/\[0\]\.(content|parts)\[1\]/);
  });

  it.each(['chat', 'gemini'] as const)('is refused for a model of %s that takes none', (upstream) => {
    const refusal = refusalBy(() => asked(client, upstream, [part], { video: false }));
    expect(refusal).toMatchObject({ code: 'unsupported_content' });
  });
});

it('a video at YouTube, which has no media type, is a video', () => {
  const part = { fileData: { fileUri: 'https://www.youtube.com/watch?v=9hE5-98ZeCg' } };
  expect(asked('gemini', 'chat', [part])).toContain('"video_url"');
  expect(refusalBy(() => asked('gemini', 'messages', [part])).message).toBe('This model does not accept videos.');
});

it('a recording in a file part is audio', () => {
  const part = { type: 'input_file', filename: 'a.mp3', file_data: 'data:audio/mpeg;base64,AAAA' };
  expect(asked('responses', 'chat', [part])).toContain(
    '{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}}',
  );
  expect(refusalBy(() => asked('responses', 'messages', [part])).message).toBe('This model does not accept audio.');
});

it('a file without a name has the ending of its media type', () => {
  const part = { inlineData: { mimeType: 'application/json', data: 'e30=' } };
  expect(asked('gemini', 'responses', [part])).toContain('"document.json"');
});

const isOpenAi = (format: TextFormat) => format === 'chat' || format === 'responses';

describe('the id of an uploaded file', () => {
  const uploads: Readonly<Record<TextFormat, JsonObject>> = {
    chat: { type: 'file', file: { file_id: 'file-1' } },
    responses: { type: 'input_file', file_id: 'file-1' },
    messages: { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    gemini: { fileData: { fileUri: 'files/1', mimeType: 'application/pdf' } },
  };
  const pairs = textFormats.flatMap((client) => textFormats.map((upstream) => [client, upstream] as const));
  const foreign = pairs.filter(([client, upstream]) => client !== upstream && isOpenAi(client) !== isOpenAi(upstream));

  it.each(foreign)('of %s is refused by its name on %s', (client, upstream) => {
    const refusal = refusalBy(() => asked(client, upstream, [uploads[client]]));
    expect(refusal).toMatchObject({
      code: 'unsupported_content',
      message: expect.stringContaining('uploaded to a different vendor'),
    });
    expect(refusal.message).toMatch(/"(file-1|file_1|files\/1)"/);
  });

  it('reaches both formats of OpenAI', () => {
    expect(asked('chat', 'responses', [uploads.chat])).toContain('"file_id":"file-1"');
    expect(asked('responses', 'chat', [uploads.responses])).toContain('"file_id":"file-1"');
  });
});
