import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { idsUpTo } from '../../canonical/call-ids.ts';
import { canReason, isForeignEffort } from '../../canonical/reasoning.ts';
import { plainNames } from '../../canonical/tool-names.ts';
import { asList, member } from '../../wire/members.ts';
import { adaptCallIds } from '../adaptation/adapt-call-ids.ts';
import { adaptLateSystem } from '../adaptation/adapt-late-system.ts';
import { adaptMedia, within } from '../adaptation/adapt-media.ts';
import { isSet, withMember, without } from '../adaptation/adapt-members.ts';
import {
  adaptOutput,
  anyObject,
  instructedText,
  type OutputWording,
  adaptLimit,
  adaptSampling,
  adaptStops,
  adaptUser,
  openaiUser,
} from '../adaptation/adapt-parameters.ts';
import { adaptRefused, furtherModels } from '../adaptation/adapt-refused.ts';
import {
  unsupportedTool,
  adaptForcedTools,
  adaptParallelCalls,
  adaptStrictTools,
  adaptTools,
  adaptUnusedTools,
  freeChoice,
  isForced,
  withoutStrict,
} from '../adaptation/adapt-tools.ts';
import { type Adaptation, inOrder, type Probe, type AdaptationTarget, rewriteMembers } from '../contract/adaptation.ts';
import { adaptMessages } from './adapt-messages.ts';
import { longestCallId, writeCallIds } from './request/call-ids.ts';
import { chatCodec } from './codec.ts';
import { isSingleAnswer } from './request/parameters.ts';
import { noteReasoningDropped, refusesToolsWithReasoning } from './request/encode-request.ts';
import type { ChatMessage, ChatRequest, ChatStreamOptions, ChatTool } from '../../wire/chat.ts';

const probe: Probe = {
  codec: chatCodec,
  toolNames: plainNames,
  stateKinds: [],
  dialogue: { messages: [{ role: 'user', content: '.' }] },
};

const limitName: Adaptation = (body: ChatRequest, { profile }) => {
  const wanted = profile.quirks.max_tokens_name;
  const other = wanted === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  if (body[other] === undefined) return body;
  const { [other]: value, ...members }: JsonObject = body;
  return members[wanted] === undefined ? { ...members, [wanted]: value } : members;
};

/** Requests usage in streams, because the record needs it. Vendors without this option always report usage. */
const streamUsage: Adaptation = (body: ChatRequest, { profile }) => {
  const { stream_options: options, stream } = body;
  if (!profile.quirks.stream_usage) return without(body, ['stream_options']);
  if (!isJsonObject(options) || stream !== true) return body;
  return withMember(body, 'stream_options', withMember<ChatStreamOptions>(options, 'include_usage', true));
};

const seedName: Adaptation = (body: ChatRequest, { profile }) => {
  const wanted = profile.quirks.seed_name;
  if (wanted === 'seed' || body.seed === undefined) return body;
  const { seed, ...members } = body;
  return { [wanted]: seed, ...members };
};

/** Renames the role `developer`, which newer OpenAI models use for `system`, for vendors that do not support it. */
const systemRole: Adaptation = (body: ChatRequest, { profile }) => {
  const { messages } = body;
  if (profile.quirks.system_role !== 'system' || !Array.isArray(messages)) return body;
  return within(body, 'messages', (message) => (isDeveloper(message) ? { ...message, role: 'system' } : message));
};

/** Re-encodes messages with generated images, which only OpenRouter accepts as members of messages. */
const madeImages: Adaptation = (body: ChatRequest, target) => {
  const { messages } = body;
  if (target.profile.quirks.reasoning === 'openrouter' || !Array.isArray(messages)) return body;
  if (!messages.some((message) => member<ChatMessage>(message, 'images') !== undefined)) return body;
  return withMember(body, 'messages', rewriteMembers(probe, { messages }, target)['messages']);
};

/** Joins the system messages at the start of the dialogue. */
const singleSystem: Adaptation = (body: ChatRequest, { profile }) => {
  if (!profile.quirks.single_system) return body;
  const messages = asList(body.messages);
  const firstOther = messages.findIndex((message) => !isInstruction(message));
  const count = firstOther === -1 ? messages.length : firstOther;
  if (count < 2) return body;
  const instructions = messages.slice(0, count) as ChatMessage[];
  return { ...body, messages: [instructions.reduce(joinInstructions), ...messages.slice(count)] };
};

function joinInstructions(first: ChatMessage, { content }: ChatMessage): ChatMessage {
  if (!Array.isArray(content)) {
    return typeof content === 'string' ? { ...first, content: instructedText(first.content, content) } : first;
  }
  const firstParts = typeof first.content === 'string' ? [{ type: 'text', text: first.content }] : asList(first.content);
  return { ...first, content: [...firstParts, ...content] };
}

function isInstruction(message: JsonValue): message is ChatMessage {
  const role = member<ChatMessage>(message, 'role');
  return role === 'system' || role === 'developer';
}

function relaxTool(tool: ChatTool, notes: Notes): ChatTool {
  const declaration = tool.function;
  return isJsonObject(declaration) ? withMember(tool, 'function', withoutStrict(declaration, notes)) : tool;
}

/**
 * Removes a web search that the route cannot run. It is a member of the request, not an entry of `tools`.
 *
 * @throws GatewayError `not_supported` if there is no other tool
 */
const hostedSearch: Adaptation = (body: ChatRequest, { profile, notes }) => {
  const { web_search_options: search, tools, functions } = body;
  if (!isJsonObject(search) || profile.quirks.hosted_search) return body;
  if (asList(tools).length + asList(functions).length === 0) throw unsupportedTool({ type: 'web_search' });
  notes.drop('web_search');
  return without(body, ['web_search_options']);
};

function isDeveloper(message: JsonValue): boolean {
  return member<ChatMessage>(message, 'role') === 'developer';
}

const toolMembers = ['tools', 'functions', 'tool_choice', 'function_call', 'parallel_tool_calls'];

/** Replaces the choice of a named tool by `required`, with the named tool as the only tool. */
const requireNamedTool: Adaptation = (body: ChatRequest, { profile }) => {
  const { tools, tool_choice: choice } = body;
  if (profile.quirks.named_tools || !Array.isArray(tools)) return body;
  const name = member(member(choice, 'function'), 'name');
  if (typeof name !== 'string') return body;
  const named = tools.filter((tool) => member(member<ChatTool>(tool, 'function'), 'name') === name);
  return named.length === 0 ? body : { ...body, tools: named, tool_choice: 'required' };
};

function freeTools(name: string, value: JsonValue): JsonValue {
  if (name !== 'function_call') return freeChoice(name, value);
  return isForced(value) || isJsonObject(value) ? 'auto' : value;
}

const outputWording: OutputWording = {
  find: ({ response_format }: ChatRequest) => (isSet(response_format) ? { response_format } : undefined),
  replace: (body, isKnown) => withMember(body, 'response_format', isKnown ? anyObject : undefined),
  instruct: (body: ChatRequest, text, profile) => ({
    ...body,
    messages: instructMessages(asList(body.messages), text, profile.quirks.system_role),
  }),
};

/** Adds an instruction after the existing instructions, so that the start of the prompt is unchanged. */
function instructMessages(messages: readonly JsonValue[], text: string, role: string): JsonValue[] {
  const [first, ...others] = messages;
  if (first === undefined || !isInstruction(first)) return [{ role, content: text }, ...messages];
  return [{ ...first, content: instructedText(first.content, text) }, ...others];
}

/** Adapts a Chat request to the capabilities and quirks of a route. */
export const adaptChat = inOrder(
  adaptLimit(['max_tokens', 'max_completion_tokens']),
  adaptSampling(['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty']),
  adaptUser(openaiUser),
  limitName,
  adaptStops('stop', isSingleAnswer),
  streamUsage,
  seedName,
  systemRole,
  adaptLateSystem({ member: 'messages', textType: 'text', alternates: true }),
  singleSystem,
  adaptMedia(probe, ['messages']),
  madeImages,
  adaptStrictTools(relaxTool),
  adaptTools(toolMembers),
  adaptUnusedTools(
    ({ tool_choice, function_call }: ChatRequest) => [tool_choice, function_call].includes('none'),
    toolMembers,
  ),
  hostedSearch,
  adaptForcedTools(freeTools),
  requireNamedTool,
  adaptParallelCalls,
  adaptReasoning,
  adaptOutput(probe, outputWording),
  adaptMessages,
  adaptCallIds(writeCallIds, idsUpTo(longestCallId)),
  adaptRefused(() => furtherModels),
);

/** All Chat members that request reasoning, of all vendors. */
const names = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'thinking_budget'] as const;

/** Requests reasoning in the route's style. Keeps vendor-specific members unless the route is known to reject them. */
function adaptReasoning(body: ChatRequest, target: AdaptationTarget): ChatRequest {
  const { profile } = target;
  const hasRefusedTools = asList(body.tools).length > 0 && refusesToolsWithReasoning(profile);
  if (hasRefusedTools && body.reasoning_effort !== 'none') return withoutEffort(body, target);
  const isRequested = names.some((name) => isSet(body[name]));
  const isServed = canReason(profile) && !isForeignEffort(body.reasoning_effort, profile);
  if (isRequested && !isServed) return rewriteReasoning(body, target);
  return canReason(profile) ? body : without(body, names);
}

function rewriteReasoning(body: ChatRequest, target: AdaptationTarget): ChatRequest {
  const requested = Object.fromEntries(names.map((name) => [name, body[name]]));
  const written: ChatRequest = rewriteMembers(probe, requested, target);
  const { thinking } = written;
  const writtenNames = names.filter((name) => name !== 'thinking' && isSet(written[name]));
  const adapted = {
    ...without(body, names),
    ...Object.fromEntries(writtenNames.map((name) => [name, written[name]])),
  };
  if (!isJsonObject(thinking)) return adapted;
  return { ...adapted, thinking: { ...(isJsonObject(body.thinking) && body.thinking), ...thinking } };
}

function withoutEffort(body: ChatRequest, { notes }: AdaptationTarget): ChatRequest {
  noteReasoningDropped(notes);
  return { ...without(body, names), reasoning_effort: 'none' };
}
