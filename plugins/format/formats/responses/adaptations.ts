import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { idsUpTo } from '../../canonical/call-ids.ts';
import { maxIdLength } from '../../canonical/openai.ts';
import { canReason, isForeignEffort } from '../../canonical/reasoning.ts';
import { plainNames } from '../../canonical/tool-names.ts';
import { isWebSearch } from '../../canonical/tools.ts';
import { asList, member, scalarText } from '../../wire/members.ts';
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
  adaptStrictTools,
  adaptTools,
  adaptUnusedTools,
  relaxToolChoice,
} from '../adaptation/adapt-tools.ts';
import {
  type Adaptation,
  type AdaptationTarget,
  chainAdaptations,
  type MemberCodec,
  reencodeMembers,
} from '../contract/adaptation.ts';
import { responsesCodec, stateKinds } from './codec.ts';
import { writeCallIds } from './request/call-ids.ts';
import type {
  ResponsesReasoningOptions,
  ResponsesRequest,
  ResponsesTextOptions,
  ResponsesTool,
} from '../../wire/responses.ts';

const probe: MemberCodec = { codec: responsesCodec, toolNames: plainNames, stateKinds, dialogue: { input: '.' } };

/** Members of WebSocket events that do not exist in a POST. */
const socketMembers = ['generate', 'stream_id'];

/** Codex's data for OpenAI. */
const internalMembers = ['client_metadata', 'input.internal_chat_message_metadata_passthrough'];

const encryptedReasoning = 'reasoning.encrypted_content';

const reasoning: Adaptation = (body: ResponsesRequest, target) => {
  const { reasoning: asked, include } = body;
  const isKnown = canReason(target.profile);
  const isRefused =
    isSet(asked) && (!isKnown || isForeignEffort(member<ResponsesReasoningOptions>(asked, 'effort'), target.profile));
  const adapted = isRefused ? withMember(body, 'reasoning', rewriteReasoning(asked, target)) : body;
  // Endpoints of models without reasoning reject a request for encrypted reasoning.
  if (isKnown || !Array.isArray(include) || !include.includes(encryptedReasoning)) return adapted;
  const others = include.filter((one) => one !== encryptedReasoning);
  return withMember(adapted, 'include', others.length === 0 ? undefined : others);
};

function rewriteReasoning(asked: JsonValue, target: AdaptationTarget): JsonValue | undefined {
  const { reasoning: written }: ResponsesRequest = reencodeMembers(probe, { reasoning: asked }, target);
  if (!isJsonObject(written) || !isJsonObject(asked)) return written;
  const { effort }: ResponsesReasoningOptions = written;
  return { ...written, ...asked, effort };
}

/** Sets `strict` to false: if it were omitted, the route could apply the default, which is strict. */
function relaxTool(tool: ResponsesTool, notes: Notes): ResponsesTool {
  if (tool.strict !== true) return tool;
  notes.drop('strict of tools');
  return { ...tool, strict: false };
}

function hostedSearch(tool: ResponsesTool, { profile, notes }: AdaptationTarget): ResponsesTool | undefined {
  if (profile.quirks.hosted_search || !isWebSearch(scalarText(tool.type))) return tool;
  notes.drop('web_search');
  return undefined;
}

const outputWording: OutputFormatEditor = {
  find: ({ text }: ResponsesRequest) => {
    const format = member<ResponsesTextOptions>(text, 'format');
    return isSet(format) ? { text: { format } } : undefined;
  },
  replace: (body: ResponsesRequest, isKnown) =>
    withMember(body, 'text', setOrOmitEmpty(body.text, 'format', isKnown ? anyJsonObject : undefined)),
  instruct: (body: ResponsesRequest, text) => {
    const { input } = body;
    const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : asList(input);
    // OpenAI requires the word JSON in the input and does not look for it in the instructions.
    return { ...body, input: [{ type: 'message', role: 'developer', content: text }, ...items] };
  },
};

/** Adapts a Responses request to the capabilities and quirks of a route. */
export const adaptResponses = chainAdaptations(
  adaptOutputLimit(['max_output_tokens']),
  adaptSampling(['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty']),
  adaptEndUser(openaiEndUser),
  adaptLateSystem({ member: 'input', textType: 'input_text', mustAlternate: false }),
  adaptMedia(probe, ['input', 'instructions']),
  adaptHostedTools(hostedSearch),
  adaptStrictTools(relaxTool),
  adaptTools(['tools', 'tool_choice', 'parallel_tool_calls']),
  adaptUnusedTools(({ tool_choice: choice }) => choice === 'none', ['tools', 'tool_choice', 'parallel_tool_calls']),
  adaptForcedTools(relaxToolChoice),
  adaptParallelCalls,
  reasoning,
  adaptOutput(probe, outputWording),
  adaptCallIds(writeCallIds, idsUpTo(maxIdLength)),
  adaptRefused(({ betas }) => [...fallbackModelMembers, ...socketMembers, ...(betas ? [] : internalMembers)]),
);
