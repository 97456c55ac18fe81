import { describe, expect, it } from 'vitest';
import type { Part } from '../../../../plugins/format/canonical/conversation.ts';
import { chat } from '../../../../plugins/format/formats/chat/descriptor.ts';
import type { TextFormat } from '../../../../plugins/format/formats/contract/descriptor.ts';
import { gemini } from '../../../../plugins/format/formats/gemini/descriptor.ts';
import { messages } from '../../../../plugins/format/formats/messages/descriptor.ts';
import { ollama } from '../../../../plugins/format/formats/ollama/descriptor.ts';
import { responses } from '../../../../plugins/format/formats/responses/descriptor.ts';
import { encodeWith, refusalBy } from '../codec-fixture.ts';

const image = (mediaType: string, data = 'PHN2'): Part => ({
  type: 'image',
  source: { type: 'base64', mediaType, data },
  detail: undefined,
});
const sent = (to: TextFormat, part: Part, betas = false) =>
  encodeWith(to, { items: [{ type: 'message', role: 'user', parts: [part] }] }, { profile: { quirks: { betas } } });

describe('media that a target cannot read', () => {
  it.each<[TextFormat, string, boolean]>([
    [messages, 'image/svg+xml', false],
    [messages, 'image/heic', true],
    [responses, 'image/svg+xml', false],
    [responses, 'image/tiff', true],
    [chat, 'image/svg+xml', false],
    [chat, 'image/bmp', true],
    [gemini, 'image/svg+xml', false],
    [ollama, 'image/svg+xml', false],
  ])('an image is refused in the gateway’s words, so that another route is asked: %o, %s', (to, type, betas) => {
    expect(refusalBy(() => sent(to, image(type), betas))).toMatchObject({
      code: 'unsupported_content',
      message: `This model does not accept images of type ${type}.`,
    });
  });

  it('an image counts by its data, and types that only some vendors read pass where the vendor is unknown', () => {
    expect(() => sent(messages, image('image/svg+xml', 'iVBORw0KGgo='))).not.toThrow();
    for (const to of [chat, responses, gemini]) expect(() => sent(to, image('image/heic'))).not.toThrow();
  });

  it('audio other than WAV and MP3 is refused at OpenAI only', () => {
    const ogg: Part = { type: 'audio', data: 'T2dn', format: 'ogg' };
    expect(refusalBy(() => sent(chat, ogg, true)).message).toBe('This model does not accept audio of type ogg.');
    expect(() => sent(chat, ogg)).not.toThrow();
    expect(() => sent(chat, { ...ogg, format: 'mp3' }, true)).not.toThrow();
  });
});
