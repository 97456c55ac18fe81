import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { createLengthRules } from '../../canonical/call-ids.ts';
import type { Notes } from '../../canonical/notes.ts';
import { maxIdLength } from '../../canonical/openai.ts';
import { canReason, isUnsupportedEffort } from '../../canonical/reasoning.ts';
import { isWebSearch } from '../../canonical/tools.ts';
import { asList, readMember, scalarToText } from '../../wire/members.ts';
import type {
  ResponsesReasoningOptions,
  ResponsesRequest,
  ResponsesTextOptions,
  ResponsesTool,
} from '../../wire/responses.ts';
import { adaptCallIds } from '../adaptation/adapt-call-ids.ts';
import { adaptLateSystem } from '../adaptation/adapt-late-system.ts';
import { adaptMedia } from '../adaptation/adapt-media.ts';
import { isSet, withMember } from '../adaptation/adapt-members.ts';
import {
  adaptOutput,
  anyJsonObject,
  type OutputFormatEditor,
  setOrOmitEmpty,
  adaptOutputLimit,
  adaptSampling,
  adaptEndUser,
  openaiEndUser,
} from '../adaptation/adapt-parameters.ts';
import { adaptRefused, fallbackModelMembers } from '../adaptation/adapt-refused.ts';
import {
  adaptHostedTools,
  adaptForcedTools,
  adaptParallelCalls,
  adaptToolMembers,
  relaxToolChoice,
} from '../adaptation/adapt-tools.ts';
import { type Adaptation, type AdaptationTarget, chainAdaptations, reencodeMembers } from '../contract/adaptation.ts';
import { responsesCodec } from './codec.ts';
import { writeCallIds } from './request/call-ids.ts';

/** Members of WebSocket events that have no counterpart in a POST. */
const socketMembers = ['generate', 'stream_id'];

/** Members that Codex sends for OpenAI alone. */
const internalMembers = ['client_metadata', 'input.internal_chat_message_metadata_passthrough'];

const encryptedReasoning = 'reasoning.encrypted_content';

const adaptReasoning: Adaptation = (body: ResponsesRequest, target) => {
  const { reasoning: requestedReasoning, include } = body;
  const supportsReasoning = canReason(target.profile);
  const isReasoningRejected =
    isSet(requestedReasoning) &&
    (!supportsReasoning ||
      isUnsupportedEffort(readMember<ResponsesReasoningOptions>(requestedReasoning, 'effort'), target.profile));
  const adaptedBody = isReasoningRejected
    ? withMember(body, 'reasoning', rewriteReasoning(requestedReasoning, target))
    : body;
  // Endpoints of models that cannot reason reject a request for encrypted reasoning.
  if (supportsReasoning || !Array.isArray(include) || !include.includes(encryptedReasoning)) return adaptedBody;
  const otherEntries = include.filter((entry) => entry !== encryptedReasoning);
  return withMember(adaptedBody, 'include', otherEntries.length === 0 ? undefined : otherEntries);
};

function rewriteReasoning(requested: JsonValue, target: AdaptationTarget): JsonValue | undefined {
  const { reasoning: rewritten }: ResponsesRequest = reencodeMembers(responsesCodec, { reasoning: requested }, target);
  if (!isJsonObject(rewritten) || !isJsonObject(requested)) return rewritten;
  const { effort }: ResponsesReasoningOptions = rewritten;
  return { ...rewritten, ...requested, effort };
}

/** Sets `strict` to false. If it were left out, the route could apply the default, which is true. */
function relaxTool(tool: ResponsesTool, notes: Notes): ResponsesTool {
  if (tool.strict !== true) return tool;
  notes.drop('strict of tools');
  return { ...tool, strict: false };
}

function adaptSearch(tool: ResponsesTool, { profile, notes }: AdaptationTarget): ResponsesTool | undefined {
  if (profile.quirks.hosted_search || !isWebSearch(scalarToText(tool.type))) return tool;
  notes.drop('web_search');
  return undefined;
}

const outputEditor: OutputFormatEditor = {
  find: ({ text }: ResponsesRequest) => {
    const format = readMember<ResponsesTextOptions>(text, 'format');
    return isSet(format) ? { text: { format } } : undefined;
  },
  replace: (body: ResponsesRequest, acceptsObject) =>
    withMember(body, 'text', setOrOmitEmpty(body.text, 'format', acceptsObject ? anyJsonObject : undefined)),
  instruct: (body: ResponsesRequest, text) => {
    const { input } = body;
    const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : asList(input);
    // OpenAI requires the word JSON in the input. Having it in the instructions is not enough.
    return { ...body, input: [{ type: 'message', role: 'developer', content: text }, ...items] };
  },
};

/** Adapts a Responses request to a route's capabilities and quirks. */
export const adaptResponsesRequest = chainAdaptations(
  adaptOutputLimit(['max_output_tokens']),
  adaptSampling(['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty']),
  adaptEndUser(openaiEndUser),
  adaptLateSystem({ messagesMember: 'input', textType: 'input_text', mustAlternate: false }),
  adaptMedia(responsesCodec, ['input', 'instructions']),
  adaptHostedTools(adaptSearch),
  adaptToolMembers({
    names: ['tools', 'tool_choice', 'parallel_tool_calls'],
    relax: relaxTool,
    forbidsCalls: ({ tool_choice: choice }: ResponsesRequest) => choice === 'none',
  }),
  adaptForcedTools(relaxToolChoice),
  adaptParallelCalls,
  adaptReasoning,
  adaptOutput(responsesCodec, outputEditor),
  adaptCallIds(writeCallIds, createLengthRules(maxIdLength)),
  adaptRefused(({ betas }) => [...fallbackModelMembers, ...socketMembers, ...(betas ? [] : internalMembers)]),
);
