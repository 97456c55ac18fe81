import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { createLengthRules } from '../../canonical/call-ids.ts';
import type { Notes } from '../../canonical/notes.ts';
import { canReason, isUnsupportedEffort } from '../../canonical/reasoning.ts';
import type { ChatMessage, ChatRequest, ChatStreamOptions, ChatTool } from '../../wire/chat.ts';
import { asList, readMember } from '../../wire/members.ts';
import { adaptCallIds } from '../adaptation/adapt-call-ids.ts';
import { adaptLateSystem, countLeadingSystem, isSystem } from '../adaptation/adapt-late-system.ts';
import { adaptMedia } from '../adaptation/adapt-media.ts';
import { isSet, mapObjects, withMember, omitMembers } from '../adaptation/adapt-members.ts';
import {
  adaptOutput,
  anyJsonObject,
  appendInstruction,
  type OutputFormatEditor,
  adaptOutputLimit,
  adaptSampling,
  adaptStops,
  adaptEndUser,
  openaiEndUser,
} from '../adaptation/adapt-parameters.ts';
import { adaptRefused, fallbackModelMembers } from '../adaptation/adapt-refused.ts';
import {
  createUnsupportedToolError,
  adaptForcedTools,
  adaptParallelCalls,
  adaptToolMembers,
  relaxToolChoice,
  forcesCall,
  removeStrict,
} from '../adaptation/adapt-tools.ts';
import { type Adaptation, chainAdaptations, type AdaptationTarget, reencodeMembers } from '../contract/adaptation.ts';
import { adaptMessages } from './adapt-messages.ts';
import { chatCodec } from './codec.ts';
import { maxCallIdLength, writeCallIds } from './request/call-ids.ts';
import { noteReasoningDropped, refusesToolsWithReasoning } from './request/encode-request.ts';
import { isSingleChoice } from './request/parameters.ts';

const adaptLimitName: Adaptation = (body: ChatRequest, { profile }) => {
  const name = profile.quirks.max_tokens_name;
  const otherName = name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  if (body[otherName] === undefined) return body;
  const { [otherName]: value, ...members }: JsonObject = body;
  return members[name] === undefined ? { ...members, [name]: value } : members;
};

const adaptStreamUsage: Adaptation = (body: ChatRequest, { profile }) => {
  const { stream_options: options, stream } = body;
  // The request log needs usage; vendors without this option always report it.
  if (!profile.quirks.stream_usage) return omitMembers(body, ['stream_options']);
  if (!isJsonObject(options) || stream !== true) return body;
  return withMember(body, 'stream_options', withMember<ChatStreamOptions>(options, 'include_usage', true));
};

const adaptSeedName: Adaptation = (body: ChatRequest, { profile }) => {
  const name = profile.quirks.seed_name;
  if (name === 'seed' || body.seed === undefined) return body;
  const { seed, ...members } = body;
  return { [name]: seed, ...members };
};

const adaptSystemRole: Adaptation = (body: ChatRequest, { profile }) => {
  if (profile.quirks.system_role !== 'system') return body;
  return mapObjects(body, 'messages', (message: ChatMessage) =>
    message.role === 'developer' ? { ...message, role: 'system' } : message,
  );
};

const adaptGeneratedImages: Adaptation = (body: ChatRequest, target) => {
  const { messages } = body;
  // Only OpenRouter accepts images as members of messages.
  if (target.profile.quirks.reasoning === 'openrouter' || !Array.isArray(messages)) return body;
  if (!messages.some((message) => readMember<ChatMessage>(message, 'images') !== undefined)) return body;
  return withMember(body, 'messages', reencodeMembers(chatCodec, { messages }, target)['messages']);
};

const joinLeadingInstructions: Adaptation = (body: ChatRequest, { profile }) => {
  if (!profile.quirks.single_system) return body;
  const messages = asList(body.messages);
  const count = countLeadingSystem(messages);
  if (count < 2) return body;
  const instructions = messages.slice(0, count) as ChatMessage[];
  return { ...body, messages: [instructions.reduce(joinInstructions), ...messages.slice(count)] };
};

function joinInstructions(first: ChatMessage, { content }: ChatMessage): ChatMessage {
  if (!Array.isArray(content)) {
    return typeof content === 'string' ? { ...first, content: appendInstruction(first.content, content) } : first;
  }
  const firstParts =
    typeof first.content === 'string' ? [{ type: 'text', text: first.content }] : asList(first.content);
  return { ...first, content: [...firstParts, ...content] };
}

function removeToolStrict(tool: ChatTool, notes: Notes): ChatTool {
  const declaration = tool.function;
  return isJsonObject(declaration) ? withMember(tool, 'function', removeStrict(declaration, notes)) : tool;
}

const adaptHostedSearch: Adaptation = (body: ChatRequest, { profile, notes }) => {
  const { web_search_options: search, tools, functions } = body;
  if (!isJsonObject(search) || profile.quirks.hosted_search) return body;
  if (asList(tools).length + asList(functions).length === 0) throw createUnsupportedToolError({ type: 'web_search' });
  notes.drop('web_search');
  return omitMembers(body, ['web_search_options']);
};

const requireNamedTool: Adaptation = (body: ChatRequest, { profile }) => {
  const { tools, tool_choice: choice } = body;
  if (profile.quirks.named_tools || !Array.isArray(tools)) return body;
  const name = readMember(readMember(choice, 'function'), 'name');
  if (typeof name !== 'string') return body;
  const namedTools = tools.filter((tool) => readMember(readMember<ChatTool>(tool, 'function'), 'name') === name);
  return namedTools.length === 0 ? body : { ...body, tools: namedTools, tool_choice: 'required' };
};

function relaxChoice(name: string, value: JsonValue): JsonValue {
  if (name !== 'function_call') return relaxToolChoice(name, value);
  return forcesCall(value) || isJsonObject(value) ? 'auto' : value;
}

const outputEditor: OutputFormatEditor = {
  find: ({ response_format }: ChatRequest) => (isSet(response_format) ? { response_format } : undefined),
  replace: (body, supportsObject) => withMember(body, 'response_format', supportsObject ? anyJsonObject : undefined),
  instruct: (body: ChatRequest, text, profile) => ({
    ...body,
    messages: instructMessages(asList(body.messages), text, profile.quirks.system_role),
  }),
};

function instructMessages(messages: readonly JsonValue[], text: string, role: string): JsonValue[] {
  const [first, ...others] = messages;
  if (!isSystem(first)) return [{ role, content: text }, ...messages];
  // The instruction goes last, so that the start of the prompt stays the same.
  return [{ ...first, content: appendInstruction(first['content'], text) }, ...others];
}

export const adaptChat = chainAdaptations(
  adaptOutputLimit(['max_tokens', 'max_completion_tokens']),
  adaptSampling(['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty']),
  adaptEndUser(openaiEndUser),
  adaptLimitName,
  adaptStops('stop', isSingleChoice),
  adaptStreamUsage,
  adaptSeedName,
  adaptSystemRole,
  adaptLateSystem({ messagesMember: 'messages', textType: 'text', mustAlternate: true }),
  joinLeadingInstructions,
  adaptMedia(chatCodec, ['messages']),
  adaptGeneratedImages,
  adaptToolMembers({
    names: ['tools', 'functions', 'tool_choice', 'function_call', 'parallel_tool_calls'],
    relax: removeToolStrict,
    forbidsCalls: ({ tool_choice, function_call }: ChatRequest) => [tool_choice, function_call].includes('none'),
  }),
  adaptHostedSearch,
  adaptForcedTools(relaxChoice),
  requireNamedTool,
  adaptParallelCalls,
  adaptReasoning,
  adaptOutput(chatCodec, outputEditor),
  adaptMessages,
  adaptCallIds(writeCallIds, createLengthRules(maxCallIdLength)),
  adaptRefused(() => fallbackModelMembers),
);

const reasoningMembers = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'thinking_budget'] as const;

/** Keeps vendor-specific parameters unless the route is known to reject them. */
function adaptReasoning(body: ChatRequest, target: AdaptationTarget): ChatRequest {
  const { profile } = target;
  const hasRefusedTools = asList(body.tools).length > 0 && refusesToolsWithReasoning(profile);
  if (hasRefusedTools && body.reasoning_effort !== 'none') return dropReasoning(body, target);
  const isRequested = reasoningMembers.some((name) => isSet(body[name]));
  const isServed = canReason(profile) && !isUnsupportedEffort(body.reasoning_effort, profile);
  if (isRequested && !isServed) return rewriteReasoning(body, target);
  return canReason(profile) ? body : omitMembers(body, reasoningMembers);
}

function rewriteReasoning(body: ChatRequest, target: AdaptationTarget): ChatRequest {
  const requested = Object.fromEntries(reasoningMembers.map((name) => [name, body[name]]));
  const encodedMembers: ChatRequest = reencodeMembers(chatCodec, requested, target);
  const { thinking } = encodedMembers;
  const names = reasoningMembers.filter((name) => name !== 'thinking' && isSet(encodedMembers[name]));
  const adaptedBody = {
    ...omitMembers(body, reasoningMembers),
    ...Object.fromEntries(names.map((name) => [name, encodedMembers[name]])),
  };
  if (!isJsonObject(thinking)) return adaptedBody;
  return { ...adaptedBody, thinking: { ...(isJsonObject(body.thinking) && body.thinking), ...thinking } };
}

function dropReasoning(body: ChatRequest, { notes }: AdaptationTarget): ChatRequest {
  noteReasoningDropped(notes);
  return { ...omitMembers(body, reasoningMembers), reasoning_effort: 'none' };
}
