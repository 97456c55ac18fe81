import type { JsonObject } from '#core/platform/json.ts';
import { createContentReaders } from '../../content/read-content.ts';
import type { ChatMessage, ChatRequest } from '../../wire/chat.ts';
import { asCount, hasToolOfType, readMember, listTexts } from '../../wire/members.ts';
import { createImageReplacer } from '../adaptation/adapt-media.ts';
import { mapObjects } from '../adaptation/adapt-members.ts';
import { openaiBetaHeaders } from '../adaptation/beta-headers.ts';
import { type ClientTextFormat, defineModelEndpoint } from '../contract/descriptor.ts';
import { FragmentObserver } from '../contract/fragment-observer.ts';
import { adaptChat } from './adaptations.ts';
import { chatCodec } from './codec.ts';
import { ChatReplyRepair } from './repair/reply-repair.ts';
import { selectSeparator } from './reply/message-deltas.ts';
import { ChatReplyAdapter } from './reply/reply-adapter.ts';
import { readCallForm } from './reply/reply-object.ts';
import { chatReplyText } from './reply/reply-text.ts';
import { hasBrokenCalls } from './request/broken-calls.ts';
import { chatParameters, isSingleChoice } from './request/parameters.ts';
import { findHistoryCalls } from './request/read-reasoning.ts';

/** Chat Completions, published by OpenAI and supported by most other vendors. */
export const chat: ClientTextFormat = {
  name: 'chat',
  kind: 'chat',
  dialect: 'openai',
  statuses: { not_supported: 400 },
  reasoningStyles: ['effort', 'thinking', 'thinking_off', 'enable_thinking', 'openrouter', 'none'],
  replyText: chatReplyText,
  readContent: createContentReaders(chatCodec),
  path: () => '/chat/completions',
  betaHeaders: openaiBetaHeaders,
  client: {
    reference: 'https://platform.openai.com/docs/api-reference/chat/create',
    endpoints: [defineModelEndpoint('chat', '/v1/chat/completions', ['messages'])],
    parameters: chatParameters,
    createObserver: ({ n }: ChatRequest, listeners) =>
      new FragmentObserver(chatCodec, listeners, { endMark: 'data: [DONE]\n\n', requestedChoices: asCount(n) ?? 1 }),
    createReplyRepair: (context, profile) => new ChatReplyRepair(context, profile),
    modelPlace: { member: 'model' },
    createReplyAdapter: (request) => new ChatReplyAdapter(request),
    text: {
      ...chatCodec,
      omitResultImages,
      hasLogprobs: true,
      isSingleChoice,
      describeContentForm: (request) => ({
        writeSeparator: selectSeparator,
        ...(readCallForm(request) === 'function_call' && { maxCalls: 1 }),
      }),
      findHistoryCalls,
      hasBrokenCalls,
      hasFreeformTools: ({ tools }: ChatRequest) => hasToolOfType(tools, ['custom']),
      writeTokenCount: (tokens) => ({ input_tokens: tokens }),
    },
  },
  text: {
    ...chatCodec,
    features: {
      freeformTools: true,
      forcedTools: true,
      resultImages: false,
      imageUrls: 'any',
      parallelCallOption: true,
      reasoning: 'none',
    },
    usageOption: {
      name: 'stream_options',
      value: { include_usage: true },
      prefix: Buffer.from('{"stream_options":{"include_usage":true},'),
    },
    readStopSequences: ({ stop }: ChatRequest) => listTexts(stop),
    adapt: adaptChat,
  },
};

function omitResultImages(body: JsonObject): JsonObject {
  return mapObjects(body, 'messages', (message) =>
    readMember<ChatMessage>(message, 'role') === 'tool'
      ? mapObjects(message, 'content', createImageReplacer('image_url', 'text'))
      : message,
  );
}
