import { mediaTypeOf } from '../../wire/media-type.ts';
import { type ClientFormat, defineModelEndpoint } from '../contract/descriptor.ts';
import { compileParameters } from '../contract/parameters.ts';
import { number, text, oneOf } from '../contract/rules.ts';
import { type MediaReplyShape, MediaObserver } from './observer.ts';

// Source: OpenAI API reference, "Create speech".
const speechParameters = compileParameters({
  input: text,
  speed: number(0.25, 4),
  stream_format: oneOf(['audio', 'sse'], '"audio" or "sse"'),
});

const speechReply: MediaReplyShape = {
  partEvents: new Set(['speech.audio.delta']),
  endEvents: new Set(['speech.audio.done']),
  // Speech is sent as audio or events, so JSON never has content.
  hasContent: () => false,
};

const unspecifiedAudioTypes = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

function isAudio(contentType: string): boolean {
  const type = mediaTypeOf(contentType);
  return type.startsWith('audio/') || unspecifiedAudioTypes.has(type);
}

/** OpenAI's endpoint that turns text into speech. */
export const speech: ClientFormat = {
  name: 'speech',
  kind: 'speech',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/audio/speech',
  client: {
    reference: 'https://platform.openai.com/docs/api-reference/audio/createSpeech',
    vendor: 'OpenAI Audio',
    endpoints: [defineModelEndpoint('speech', '/v1/audio/speech', ['input'])],
    parameters: speechParameters,
    isStream: ({ stream_format }) => stream_format === 'sse',
    createByteTypeTest: ({ stream_format }) => (stream_format === 'sse' ? undefined : isAudio),
    createObserver: () => new MediaObserver(speechReply),
  },
};
