import type { JsonObject } from '#core/platform/json.ts';
import { createContentReaders } from '../../content/read-content.ts';
import { hasToolOfType, readMember, scalarToText } from '../../wire/members.ts';
import type { ResponsesItem, ResponsesRequest } from '../../wire/responses.ts';
import { createImageReplacer } from '../adaptation/adapt-media.ts';
import { mapObjects } from '../adaptation/adapt-members.ts';
import { openaiBetaHeaders } from '../adaptation/beta-headers.ts';
import { type ClientTextFormat, defineModelEndpoint } from '../contract/descriptor.ts';
import { FragmentObserver } from '../contract/fragment-observer.ts';
import { adaptResponsesRequest } from './adaptations.ts';
import { responsesCodec } from './codec.ts';
import { ResponsesReplyRepair } from './repair/reply-repair.ts';
import { ResponsesReplyAdapter } from './reply/reply-adapter.ts';
import { renderStreamError, responseEvents } from './reply/reply-object.ts';
import { responsesReplyText } from './reply/reply-text.ts';
import { readMetadataHeaders } from './request/metadata-headers.ts';
import { responsesParameters } from './request/parameters.ts';

/** OpenAI's Responses API. */
export const responses: ClientTextFormat = {
  name: 'responses',
  kind: 'chat',
  dialect: 'openai',
  // Codex retries 402 and 404 on /v1/responses six times and shows 400 immediately; Claude Code does the opposite.
  statuses: { plan_inactive: 400, upstream_account_rejected: 400, model_not_found: 400, not_supported: 400 },
  renderStreamError,
  reasoningStyles: ['effort', 'none'],
  replyText: responsesReplyText,
  readContent: createContentReaders(responsesCodec),
  path: (_model, _isStream, purpose) => (purpose === 'count' ? '/responses/input_tokens' : '/responses'),
  betaHeaders: openaiBetaHeaders,
  readBodyHeaders: readMetadataHeaders,
  client: {
    reference: 'https://platform.openai.com/docs/api-reference/responses/create',
    endpoints: [
      defineModelEndpoint('responses', '/v1/responses', []),
      defineModelEndpoint('responses_input_tokens', '/v1/responses/input_tokens', [], { purpose: 'count' }),
    ],
    parameters: responsesParameters,
    createObserver: (_body, listeners) => new FragmentObserver(responsesCodec, listeners, { ignoresDone: true }),
    createReplyRepair: (context, { quirks }) => new ResponsesReplyRepair(context, quirks.betas),
    modelPlace: { member: 'model', parent: 'response', events: responseEvents },
    createReplyAdapter: (request, origin) => new ResponsesReplyAdapter(request, origin),
    text: {
      ...responsesCodec,
      omitResultImages,
      endsWithAnswer: true,
      replyImages: 'data',
      hasLogprobs: true,
      isSingleChoice: () => true,
      hasFreeformTools: ({ tools }: ResponsesRequest) => hasToolOfType(tools, ['custom', 'namespace', 'tool_search']),
      writeTokenCount: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    },
  },
  text: {
    ...responsesCodec,
    features: {
      freeformTools: true,
      forcedTools: true,
      resultImages: true,
      imageUrls: 'any',
      parallelCallOption: true,
      reasoning: 'signed',
    },
    readStopSequences: () => [],
    adapt: adaptResponsesRequest,
  },
};

function omitResultImages(body: JsonObject): JsonObject {
  return mapObjects(body, 'input', (item) => {
    const isResult = scalarToText(readMember<ResponsesItem>(item, 'type')).endsWith('_call_output');
    return isResult ? mapObjects(item, 'output', createImageReplacer('input_image', 'input_text')) : item;
  });
}
