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
import { type AdaptationTarget, chainAdaptations, reencodeMembers } from '../contract/adaptation.ts';
import { responsesCodec } from './codec.ts';
import { writeCallIds } from './request/call-ids.ts';

const socketMembers = ['generate', 'stream_id']; // no counterpart in a POST

const internalMembers = ['client_metadata', 'input.internal_chat_message_metadata_passthrough']; // Codex sends these for OpenAI alone

const encryptedReasoning = 'reasoning.encrypted_content';

function adaptReasoningOptions(body: ResponsesRequest, target: AdaptationTarget): ResponsesRequest {
  const { reasoning } = body;
  if (!isSet(reasoning)) return body;
  const effort = readMember<ResponsesReasoningOptions>(reasoning, 'effort');
  const isAccepted = canReason(target.profile) && !isUnsupportedEffort(effort, target.profile);
  return isAccepted ? body : withMember(body, 'reasoning', rewriteReasoning(reasoning, target));
}

/** Endpoints of models that cannot reason reject a request for encrypted reasoning. */
function dropEncryptedReasoning(body: ResponsesRequest, { profile }: AdaptationTarget): ResponsesRequest {
  const { include } = body;
  if (canReason(profile) || !Array.isArray(include) || !include.includes(encryptedReasoning)) return body;
  const otherEntries = include.filter((entry) => entry !== encryptedReasoning);
  return withMember(body, 'include', otherEntries.length === 0 ? undefined : otherEntries);
}

function rewriteReasoning(requested: JsonValue, target: AdaptationTarget): JsonValue | undefined {
  const { reasoning: rewritten }: ResponsesRequest = reencodeMembers(responsesCodec, { reasoning: requested }, target);
  if (!isJsonObject(rewritten) || !isJsonObject(requested)) return rewritten;
  const { effort }: ResponsesReasoningOptions = rewritten;
  return { ...rewritten, ...requested, effort };
}

function relaxTool(tool: ResponsesTool, notes: Notes): ResponsesTool {
  if (tool.strict !== true) return tool;
  notes.drop('strict of tools');
  // Without `strict`, the route could apply its default, true.
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
  adaptReasoningOptions,
  dropEncryptedReasoning,
  adaptOutput(responsesCodec, outputEditor),
  adaptCallIds(writeCallIds, createLengthRules(maxIdLength)),
  adaptRefused(({ betas }) => [...fallbackModelMembers, ...socketMembers, ...(betas ? [] : internalMembers)]),
);
