import type { Quirks } from '#core/config/catalog/quirks.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { plainIdRules } from '../../canonical/call-ids.ts';
import { createContentReaders } from '../../content/read-content.ts';
import { readMember, listTexts } from '../../wire/members.ts';
import type { MessagesBlock, MessagesRequest } from '../../wire/messages.ts';
import { createImageReplacer } from '../adaptation/adapt-media.ts';
import { mapObjects } from '../adaptation/adapt-members.ts';
import { type ClientTextFormat, defineModelEndpoint, type Purpose } from '../contract/descriptor.ts';
import { FragmentObserver } from '../contract/fragment-observer.ts';
import { dropForeignThinking, dropThinkingInToolLoop } from './adapt-thinking.ts';
import { adaptMessagesRequest } from './adaptations.ts';
import { messagesCodec } from './codec.ts';
import { selectSeparator } from './reply/encode-reply.ts';
import { MessagesReplyAdapter } from './reply/reply-adapter.ts';
import { MessagesReplyRepair } from './reply/reply-repair.ts';
import { messagesReplyText } from './reply/reply-text.ts';
import { replyToUnavailableTool } from './reply/unavailable-tool.ts';
import { writeArguments } from './reply/write-output.ts';
import { hasBrokenCalls } from './request/broken-calls.ts';
import { findHistoryCalls, hidesReasoning } from './request/history-calls.ts';
import { messagesParameters } from './request/parameters.ts';

/** Anthropic's Messages API. */
export const messages: ClientTextFormat = {
  name: 'messages',
  kind: 'chat',
  dialect: 'anthropic',
  statuses: { unavailable: 529, not_supported: 400 },
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  reasoningStyles: ['adaptive', 'budget', 'none'],
  replyText: messagesReplyText,
  readContent: createContentReaders(messagesCodec),
  path: buildPath,
  headers: { 'anthropic-version': '2023-06-01' },
  // Claude Code sends the last two.
  betaHeaders: ['anthropic-version', 'anthropic-beta', 'x-app', 'x-claude-code-session-id'],
  client: {
    reference: 'https://docs.anthropic.com/en/api/messages',
    endpoints: [
      defineModelEndpoint('messages', '/v1/messages', ['messages', 'max_tokens']),
      defineModelEndpoint('count_tokens', '/v1/messages/count_tokens', ['messages'], { purpose: 'count' }),
    ],
    parameters: messagesParameters,
    createObserver: (_body, listeners) =>
      new FragmentObserver(messagesCodec, listeners, {
        endMark: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
        // Some vendors send Chat's `[DONE]`, which does not end a stream in this format.
        ignoresDone: true,
      }),
    createReplyRepair: ({ id }, { quirks }) => (quirks.betas ? undefined : new MessagesReplyRepair(id)),
    modelPlace: { member: 'model', parent: 'message', events: new Set(['message_start']) },
    createReplyAdapter: (request, origin) => new MessagesReplyAdapter(request, origin),
    dropForeignReasoning: dropForeignThinking,
    completeWithoutState: (body, _before, target) => dropThinkingInToolLoop(body, target),
    text: {
      ...messagesCodec,
      omitResultImages,
      endsWithAnswer: true,
      hidesReasoning,
      findHistoryCalls,
      replyImages: 'none',
      callIds: plainIdRules,
      hasPauses: true,
      isSingleChoice: () => true,
      describeContentForm: () => ({
        writeSeparator: (head, { lastType }) => selectSeparator(lastType, head),
        writeArguments: writeArguments,
        sendsInputAtEnd: ({ form }, begin) => form === 'freeform' || !begin.startsWith('{'),
      }),
      replyToUnavailableTool,
      hasBrokenCalls,
      writeTokenCount: (tokens) => ({ input_tokens: tokens }),
    },
  },
  text: {
    ...messagesCodec,
    features: {
      freeformTools: false,
      forcedTools: true,
      resultImages: true,
      imageUrls: 'any',
      parallelCallOption: true,
      reasoning: 'signed',
    },
    readStopSequences: ({ stop_sequences }: MessagesRequest) => listTexts(stop_sequences),
    adapt: adaptMessagesRequest,
  },
};

function omitResultImages(body: JsonObject): JsonObject {
  return mapObjects(body, 'messages', (message) => mapObjects(message, 'content', replaceResultImages));
}

function replaceResultImages(block: JsonObject): JsonObject {
  return readMember<MessagesBlock>(block, 'type') === 'tool_result'
    ? mapObjects(block, 'content', createImageReplacer('image', 'text'))
    : block;
}

function buildPath(model: string, isStream: boolean, purpose: Purpose, quirks?: Quirks): string {
  if (purpose === 'count') return '/messages/count_tokens';
  if (quirks?.vertex !== true) return '/messages';
  // An @ in the model's name need not be escaped.
  return `/models/${encodeURIComponent(model).replaceAll('%40', '@')}:${isStream ? 'streamRawPredict' : 'rawPredict'}`;
}
