import type { Quirks } from '#core/config/catalog/quirks.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { plainIdRules } from '../../canonical/call-ids.ts';
import { isWebSearch } from '../../canonical/tools.ts';
import { asObject, readMember } from '../../wire/members.ts';
import type {
  MessagesBlock,
  MessagesOutputConfig,
  MessagesRequest,
  MessagesTool,
  MessagesToolChoice,
} from '../../wire/messages.ts';
import { adaptCallIds } from '../adaptation/adapt-call-ids.ts';
import { adaptLateSystem } from '../adaptation/adapt-late-system.ts';
import { adaptMedia } from '../adaptation/adapt-media.ts';
import { mapListMember, withMember, isSet, omitMembers } from '../adaptation/adapt-members.ts';
import {
  adaptOutput,
  appendInstruction,
  type OutputFormatEditor,
  setOrOmitEmpty,
  adaptOutputLimit,
  adaptSampling,
  adaptStops,
  adaptEndUser,
} from '../adaptation/adapt-parameters.ts';
import { adaptRefused } from '../adaptation/adapt-refused.ts';
import {
  adaptHostedTools,
  adaptForcedTools,
  adaptToolMembers,
  forcesCall,
  removeStrict,
} from '../adaptation/adapt-tools.ts';
import { type Adaptation, type AdaptationTarget, reencodeMembers, chainAdaptations } from '../contract/adaptation.ts';
import { adaptThinking, replayThinking } from './adapt-thinking.ts';
import { mapBlocks } from './blocks.ts';
import { messagesCodec } from './codec.ts';
import { writeCallIds } from './request/call-ids.ts';
import { writeReferenceText } from './request/read-content.ts';
import { adaptBillingHeader } from './request/read-messages.ts';
import { isPlaceholder } from './request/read-tools.ts';
import { applyToolChanges } from './request/tool-changes.ts';

const adaptServerTools = adaptHostedTools((tool: MessagesTool, target) => {
  const { type } = tool;
  const { hosted_search, betas } = target.profile.quirks;
  if (typeof type === 'string' && isWebSearch(type)) {
    if (!hosted_search) target.notes.drop('web_search');
    return hosted_search ? tool : undefined;
  }
  if (betas) return tool;
  if (type === undefined || type === null || type === 'custom') return isPlaceholder(tool) ? undefined : tool;
  // Typed tools that clients run become plain tools.
  const { tools }: MessagesRequest = reencodeMembers(messagesCodec, { tools: [tool] }, target);
  const [converted] = Array.isArray(tools) ? tools : [];
  return isJsonObject(converted) ? withMember<MessagesTool>(converted, 'cache_control', tool.cache_control) : undefined;
});

const adaptToolReferences: Adaptation = (body: MessagesRequest, { profile }) => {
  const { messages } = body;
  if (profile.quirks.betas || !Array.isArray(messages)) return body;
  return withMember(
    body,
    'messages',
    mapBlocks(messages, (block) => mapListMember(block, 'content', writeReference)),
  );
};

const adaptToolChanges: Adaptation = (body: MessagesRequest, { profile, notes }) =>
  profile.quirks.betas ? body : applyToolChanges(body, notes);

const adaptForeignBlocks: Adaptation = (body: MessagesRequest, { profile, notes }) => {
  const { messages } = body;
  if (profile.quirks.claude || !Array.isArray(messages)) return body;
  // A `fallback` block marks an answer that another Anthropic model continued.
  const remainingMessages = mapBlocks(messages, (block) => (block.type === 'fallback' ? undefined : block));
  if (remainingMessages === messages) return body;
  notes.drop('content block fallback');
  return { ...body, messages: remainingMessages };
};

function writeReference(block: JsonValue): JsonValue {
  const { type, tool_name: name }: MessagesBlock = asObject(block);
  return type === 'tool_reference' && typeof name === 'string'
    ? { type: 'text', text: writeReferenceText(name) }
    : block;
}

/** Anthropic rejects these without the beta's header; other vendors always reject them. */
const betaMembers = [
  'compaction',
  'container',
  'context_management',
  'diagnostics',
  'fallbacks',
  'mcp_servers',
  'output_config.task_budget',
  'safeguards',
  'tags',
  'thread',
  'tools.allowed_callers',
  'tools.defer_loading',
  'tools.eager_input_streaming',
  'tools.input_examples',
];

/** Source: "scope: Extra inputs are not permitted", claude-code#41966. */
const cacheScopes = ['', 'tools.', 'system.', 'messages.content.', 'messages.content.content.'].map(
  (path) => `${path}cache_control.scope`,
);

function listUnsupportedMembers({ betas, safeguards, claude }: Quirks): readonly string[] {
  const unsupportedMembers = betas ? [] : betaMembers.filter((path) => path !== 'safeguards' || !safeguards);
  return claude ? unsupportedMembers : [...unsupportedMembers, ...cacheScopes];
}

const adaptParallelCalls: Adaptation = (body: MessagesRequest, { profile, notes }) => {
  const { tool_choice: choice } = body;
  if (profile.quirks.parallel_switch || !isJsonObject(choice)) return body;
  const { disable_parallel_tool_use: disablesParallel, ...remainingChoice }: MessagesToolChoice = choice;
  if (disablesParallel === true) notes.drop('parallel_tool_calls');
  return disablesParallel === undefined ? body : { ...body, tool_choice: remainingChoice };
};

function relaxToolChoice(name: string, choice: JsonValue): JsonValue {
  if (name !== 'tool_choice' || !forcesCall(choice)) return choice;
  const { disable_parallel_tool_use: disablesParallel }: MessagesToolChoice = asObject(choice);
  return { type: 'auto', ...(isSet(disablesParallel) && { disable_parallel_tool_use: disablesParallel }) };
}

const outputEditor: OutputFormatEditor = {
  find: ({ output_config, output_format }: MessagesRequest): JsonObject | undefined => {
    const format = readMember<MessagesOutputConfig>(output_config, 'format');
    if (isSet(format)) return { output_config: { format } };
    return isSet(output_format) ? { output_format } : undefined;
  },
  replace: (body: MessagesRequest) =>
    withMember(
      omitMembers(body, ['output_format']),
      'output_config',
      setOrOmitEmpty(body.output_config, 'format', undefined),
    ),
  instruct: (body: MessagesRequest, text) => ({ ...body, system: appendInstruction(body.system, text) }),
};

function adaptVertex(body: MessagesRequest, { profile }: AdaptationTarget): JsonObject {
  // Vertex AI takes the model from the path. Source: Anthropic docs, "Claude on Vertex AI".
  return profile.quirks.vertex ? { anthropic_version: 'vertex-2023-10-16', ...omitMembers(body, ['model']) } : body;
}

export const adaptMessagesRequest = chainAdaptations(
  adaptOutputLimit(['max_tokens']),
  adaptSampling(['temperature', 'top_p', 'top_k']),
  adaptEndUser({ names: ['metadata'], write: (id) => ({ metadata: { user_id: id } }) }),
  adaptStops('stop_sequences'),
  adaptBillingHeader,
  adaptToolChanges,
  adaptForeignBlocks,
  adaptLateSystem({ messagesMember: 'messages', textType: 'text', mustAlternate: true, instructionsMember: 'system' }),
  adaptMedia(messagesCodec, ['messages', 'system']),
  adaptServerTools,
  adaptToolReferences,
  adaptToolMembers({
    names: ['tools', 'tool_choice'],
    relax: removeStrict,
    forbidsCalls: ({ tool_choice }: MessagesRequest) => readMember<MessagesToolChoice>(tool_choice, 'type') === 'none',
  }),
  adaptParallelCalls,
  adaptForcedTools(relaxToolChoice),
  adaptThinking,
  replayThinking,
  adaptCallIds(writeCallIds, plainIdRules),
  adaptOutput(messagesCodec, outputEditor),
  adaptRefused(listUnsupportedMembers),
  adaptVertex,
);
