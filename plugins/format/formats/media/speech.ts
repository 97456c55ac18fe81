import { mediaTypeOf } from '../../wire/media-type.ts';
import { type ClientFormat, modelEndpoint } from '../contract/descriptor.ts';
import { parameters } from '../contract/parameters.ts';
import { number, text, word } from '../contract/rules.ts';
import { type MediaAnswer, MediaObserver } from './observer.ts';

/** Source: OpenAI API reference, "Create speech". */
const speechParameters = parameters({
  input: text,
  speed: number(0.25, 4),
  stream_format: word(['audio', 'sse'], '"audio" or "sse"'),
});

const answer: MediaAnswer = {
  parts: new Set(['speech.audio.delta']),
  ends: new Set(['speech.audio.done']),
  // Speech comes as audio or events, so JSON has no content.
  hasContent: () => false,
};

/** Content types of servers that do not state their audio type. */
const unknownTypes = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

function isAudio(contentType: string): boolean {
  const type = mediaTypeOf(contentType);
  return type.startsWith('audio/') || unknownTypes.has(type);
}

/** OpenAI's endpoint that turns text into speech. */
export const speech: ClientFormat = {
  name: 'speech',
  kind: 'speech',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/audio/speech',
  client: {
    endpoints: [modelEndpoint('speech', '/v1/audio/speech', ['input'])],
    parameters: speechParameters,
    isStream: ({ stream_format }) => stream_format === 'sse',
    bytes: ({ stream_format }) => (stream_format === 'sse' ? undefined : isAudio),
    observe: () => new MediaObserver(answer),
  },
};
