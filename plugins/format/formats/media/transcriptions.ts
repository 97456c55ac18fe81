import { mediaTypeOf } from '../../wire/media-type.ts';
import type { ClientFormat } from '../contract/descriptor.ts';
import { compileParameters } from '../contract/parameters.ts';
import { number } from '../contract/rules.ts';
import { type MediaReplyShape, defineMediaEndpoint, MediaObserver } from './observer.ts';

const transcriptReply: MediaReplyShape = {
  partEvents: new Set(['transcript.text.delta', 'transcript.text.segment']),
  endEvents: new Set(['transcript.text.done']),
  // The transcript of silence is an empty text.
  hasContent: ({ text, segments }) => typeof text === 'string' || Array.isArray(segments),
};

// Source: OpenAI API reference, "Create transcription".
const textResponseFormats: ReadonlySet<unknown> = new Set(['text', 'srt', 'vtt']);

const nonTranscriptTypes = new Set(['text/html', 'text/event-stream']); // a proxy's error page, and events

/** whisper-1 sends plain text even if a stream was requested. */
function isTranscriptText(contentType: string): boolean {
  const type = mediaTypeOf(contentType);
  return type === '' || type === 'application/x-subrip' || (type.startsWith('text/') && !nonTranscriptTypes.has(type));
}

/** OpenAI's endpoints that transcribe recorded speech, with or without translation into English. */
export const transcriptions: ClientFormat = {
  name: 'transcriptions',
  kind: 'transcription',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/audio/transcriptions',
  client: {
    reference: 'https://platform.openai.com/docs/api-reference/audio/createTranscription',
    vendor: 'OpenAI Audio',
    endpoints: [
      defineMediaEndpoint('transcriptions', '/audio/transcriptions', ['file'], { isMultipart: true }),
      defineMediaEndpoint('audio_translations', '/audio/translations', ['file'], { isMultipart: true }),
    ],
    parameters: compileParameters({ temperature: number(0, 1) }),
    isStream: ({ stream }) => stream === true || stream === 'true',
    createByteTypeTest: ({ response_format }) =>
      textResponseFormats.has(response_format) ? isTranscriptText : undefined,
    createObserver: () => new MediaObserver(transcriptReply),
  },
};
