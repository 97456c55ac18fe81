import { plainNames } from '../canonical/tool-names.ts';
import type { ClientTextFormat } from '../descriptor.ts';
import { openaiBetaHeaders } from '../pass-through/beta-headers.ts';
import { hasToolOfType } from '../request/members.ts';
import { ChatReplyAdapter } from './reply-adapter.ts';
import { adaptChat } from './adaptations.ts';
import { callsWithoutReasoning } from './calls-without-reasoning.ts';
import { chatCodec } from './codec.ts';
import { ChatObserver } from './observer.ts';
import { omitResultImages } from './omit-images.ts';
import { chatParameters } from './parameters.ts';
import { ChatReplyRepair } from './repair/reply-repair.ts';
import { isSingleAnswer, reportedStops } from './stops.ts';
import { chatReplyText } from './reply-text.ts';

/** Chat Completions, as OpenAI publishes it and most other vendors speak it. */
export const chat: ClientTextFormat = {
  name: 'chat',
  dialect: 'openai',
  statuses: { not_supported: 400 },
  reasoningStyles: ['effort', 'thinking', 'enable_thinking', 'openrouter', 'none'],
  replyText: chatReplyText,
  path: () => '/chat/completions',
  betaHeaders: openaiBetaHeaders,
  client: {
    endpoints: [
      {
        name: 'chat',
        method: 'POST',
        path: '/v1/chat/completions',
        isMetered: true,
        isAliased: true,
        purpose: 'answer',
        required: ['messages'],
      },
    ],
    parameters: chatParameters,
    observe: (id, { n }) => new ChatObserver(id, typeof n === 'number' ? n : 1),
    repairReply: (context, profile) => new ChatReplyRepair(context, profile),
    modelPlace: { member: 'model' },
    adaptReply: ({ body }) => new ChatReplyAdapter(body),
    text: {
      ...chatCodec,
      omitResultImages,
      isSingleAnswer,
      callsWithoutReasoning,
      hasFreeformTools: ({ tools }) => hasToolOfType(tools, ['custom']),
      writeTokenCount: (tokens) => ({ input_tokens: tokens }),
    },
  },
  text: {
    ...chatCodec,
    toolNames: plainNames,
    stateKinds: [],
    speaks: {
      freeformTools: true,
      forcedTools: true,
      resultImages: false,
      imageUrls: 'any',
      parallelSwitch: true,
      reasoning: 'none',
    },
    usageOption: {
      name: 'stream_options',
      value: { include_usage: true },
      prefix: Buffer.from('{"stream_options":{"include_usage":true},'),
    },
    reportedStops,
    adapt: adaptChat,
  },
};
