import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Notes } from '../canonical/notes.ts';
import { plainNames } from '../canonical/tool-names.ts';
import { unsupportedTool } from '../pass-through/adapt-hosted-tools.ts';
import { adaptLateSystem } from '../pass-through/adapt-late-system.ts';
import { adaptMedia } from '../pass-through/adapt-media.ts';
import { isSet, withMember, without } from '../pass-through/adapt-members.ts';
import {
  adaptOutput,
  anyObject,
  asList,
  instructedText,
  type OutputWording,
} from '../pass-through/adapt-output-format.ts';
import { adaptRefused } from '../pass-through/adapt-refused.ts';
import { adaptLimit, adaptSampling, adaptStops, adaptUser } from '../pass-through/adapt-parameters.ts';
import {
  adaptForcedTools,
  adaptParallelCalls,
  adaptStrictTools,
  adaptTools,
  freeChoice,
  isForced,
  withoutStrict,
} from '../pass-through/adapt-tools.ts';
import { type Adaptation, inOrder, type Probe } from '../pass-through/adaptation.ts';
import { adaptMessages } from './adapt-messages.ts';
import { adaptReasoning } from './adapt-reasoning.ts';
import { chatCodec } from './codec.ts';
import { isSingleAnswer } from './stops.ts';

const probe: Probe = {
  codec: chatCodec,
  toolNames: plainNames,
  stateKinds: [],
  dialogue: { messages: [{ role: 'user', content: '.' }] },
};

const limitName: Adaptation = (body, { profile }) => {
  const wanted = profile.quirks.max_tokens_name;
  const other = wanted === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  if (body[other] === undefined) return body;
  const { [other]: value, ...rest } = body;
  return rest[wanted] === undefined ? { ...rest, [wanted]: value } : rest;
};

/** Vendors that do not know it count without being asked. */
const streamUsage: Adaptation = (body, { profile }) =>
  profile.quirks.stream_usage ? body : without(body, ['stream_options']);

const seedName: Adaptation = (body, { profile }) => {
  const wanted = profile.quirks.seed_name;
  if (wanted === 'seed' || !isSet(body['seed'])) return body;
  const { seed, ...rest } = body;
  return { [wanted]: seed, ...rest };
};

/** `developer` is what newer OpenAI models call `system`; other vendors do not know it. */
const systemRole: Adaptation = (body, { profile }) => {
  const { messages } = body;
  if (profile.quirks.system_role !== 'system' || !Array.isArray(messages) || !messages.some(isDeveloper)) {
    return body;
  }
  const renamed = messages.map((message) =>
    isJsonObject(message) && isDeveloper(message) ? { ...message, role: 'system' } : message,
  );
  return { ...body, messages: renamed };
};

/** Several system messages at the beginning become one. */
const singleSystem: Adaptation = (body, { profile }) => {
  if (!profile.quirks.single_system) return body;
  const messages = asList(body['messages']);
  const begin = messages.findIndex((message) => !isInstruction(message));
  const count = begin === -1 ? messages.length : begin;
  if (count < 2) return body;
  const said = messages.slice(0, count) as JsonObject[];
  return { ...body, messages: [said.reduce(joinInstructions), ...messages.slice(count)] };
};

function joinInstructions(first: JsonObject, { content }: JsonObject): JsonObject {
  if (!Array.isArray(content)) {
    return typeof content === 'string' ? { ...first, content: instructedText(first['content'], content) } : first;
  }
  const { content: before } = first;
  const parts = typeof before === 'string' ? [{ type: 'text', text: before }] : asList(before);
  return { ...first, content: [...parts, ...content] };
}

function isInstruction(message: JsonValue): message is JsonObject {
  return isJsonObject(message) && (message['role'] === 'system' || message['role'] === 'developer');
}

function relaxTool(tool: JsonObject, notes: Notes): JsonObject {
  const described = tool['function'];
  if (!isJsonObject(described)) return tool;
  const relaxed = withoutStrict(described, notes);
  return relaxed === described ? tool : { ...tool, function: relaxed };
}

/** A web search is no entry of `tools`. @throws GatewayError `not_supported` where nothing runs it and there is no other tool */
const hostedSearch: Adaptation = (body, { profile, notes }) => {
  const { web_search_options: search, tools, functions } = body;
  if (!isJsonObject(search) || profile.quirks.hosted_search) return body;
  if (asList(tools).length + asList(functions).length === 0) throw unsupportedTool({ type: 'web_search' });
  notes.drop('web_search');
  return without(body, ['web_search_options']);
};

function isDeveloper(message: JsonValue): boolean {
  return isJsonObject(message) && message['role'] === 'developer';
}

function freeTools(name: string, value: JsonValue): JsonValue {
  if (name !== 'function_call') return freeChoice(name, value);
  return isForced(value) || isJsonObject(value) ? 'auto' : value;
}

const outputWording: OutputWording = {
  find: ({ response_format }) => (isSet(response_format) ? { response_format } : undefined),
  replace: (body, isKnown) => withMember(body, 'response_format', isKnown ? anyObject : undefined),
  instruct: (body, text, profile) => ({
    ...body,
    messages: instructMessages(asList(body['messages']), text, profile.quirks.system_role),
  }),
};

/** After existing instructions, so that the beginning of the prompt stays the same. */
function instructMessages(messages: readonly JsonValue[], text: string, role: string): JsonValue[] {
  const [first, ...rest] = messages;
  if (first === undefined || !isInstruction(first)) return [{ role, content: text }, ...messages];
  return [{ ...first, content: instructedText(first['content'], text) }, ...rest];
}

/** Adapts a Chat request to the capabilities and quirks of a route. */
export const adaptChat = inOrder(
  adaptLimit(['max_tokens', 'max_completion_tokens']),
  adaptSampling(['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty']),
  adaptUser(['user', 'safety_identifier']),
  limitName,
  adaptStops('stop', isSingleAnswer),
  streamUsage,
  seedName,
  systemRole,
  adaptLateSystem({ member: 'messages', textType: 'text', alternates: true }),
  singleSystem,
  adaptMedia(probe, ['messages']),
  adaptStrictTools(relaxTool),
  adaptTools(['tools', 'functions', 'tool_choice', 'function_call', 'parallel_tool_calls']),
  hostedSearch,
  adaptForcedTools(freeTools),
  adaptParallelCalls,
  adaptReasoning(probe),
  adaptOutput(probe, outputWording),
  adaptMessages,
  adaptRefused(),
);
