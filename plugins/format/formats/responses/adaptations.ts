import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { nineCharacters } from '../../canonical/openai.ts';
import { canReason, isForeignEffort } from '../../canonical/reasoning.ts';
import { plainNames } from '../../canonical/tool-names.ts';
import { isWebSearch } from '../../canonical/tools.ts';
import { member } from '../../wire/members.ts';
import { adaptLateSystem } from '../adaptation/adapt-late-system.ts';
import { adaptMedia } from '../adaptation/adapt-media.ts';
import { isSet, mapEntries, withMember } from '../adaptation/adapt-members.ts';
import {
  adaptOutput,
  anyObject,
  asList,
  type OutputWording,
  withoutEmpty,
  adaptLimit,
  adaptSampling,
  adaptUser,
} from '../adaptation/adapt-parameters.ts';
import { adaptRefused } from '../adaptation/adapt-refused.ts';
import {
  adaptHostedTools,
  adaptForcedTools,
  adaptParallelCalls,
  adaptStrictTools,
  adaptTools,
  freeChoice,
} from '../adaptation/adapt-tools.ts';
import { type Adaptation, type AdaptationTarget, inOrder, type Probe, rewriteMembers } from '../contract/adaptation.ts';
import { responsesCodec, stateKinds } from './codec.ts';

const probe: Probe = { codec: responsesCodec, toolNames: plainNames, stateKinds, dialogue: { input: '.' } };

/** What Codex tells OpenAI about itself. */
const internalMembers = ['client_metadata', 'input.internal_chat_message_metadata_passthrough'];

const encryptedReasoning = 'reasoning.encrypted_content';

const reasoning: Adaptation = (body, target) => {
  const { reasoning: asked, include } = body;
  const isKnown = canReason(target.profile);
  const isRefused = isSet(asked) && (!isKnown || isForeignEffort(member(asked, 'effort'), target.profile));
  const adapted = isRefused ? withMember(body, 'reasoning', rewriteReasoning(asked, target)) : body;
  // Endpoints of models without reasoning reject a request for encrypted reasoning.
  if (isKnown || !Array.isArray(include) || !include.includes(encryptedReasoning)) return adapted;
  const others = include.filter((one) => one !== encryptedReasoning);
  return withMember(adapted, 'include', others.length === 0 ? undefined : others);
};

function rewriteReasoning(asked: JsonValue, target: AdaptationTarget): JsonValue | undefined {
  const { reasoning: written } = rewriteMembers(probe, { reasoning: asked }, target);
  if (!isJsonObject(written) || !isJsonObject(asked)) return written;
  return { ...written, ...asked, effort: written['effort'] };
}

/** Left out, it could be taken for the default, which is strict. */
function relaxTool(tool: JsonObject, notes: Notes): JsonObject {
  if (tool['strict'] !== true) return tool;
  notes.drop('strict of tools');
  return { ...tool, strict: false };
}

function hostedSearch(tool: JsonObject, { profile, notes }: AdaptationTarget): JsonObject | undefined {
  if (profile.quirks.hosted_search || !isWebSearch(String(tool['type']))) return tool;
  notes.drop('web_search');
  return undefined;
}

const callIds: Adaptation = (body, { profile }) => {
  const { input } = body;
  if (profile.quirks.tool_call_ids !== 'nine_characters' || !Array.isArray(input)) return body;
  return withMember(body, 'input', mapEntries(input, withShortId));
};

function withShortId(item: JsonValue): JsonValue {
  if (!isJsonObject(item) || typeof item['call_id'] !== 'string') return item;
  return withMember(item, 'call_id', nineCharacters(item['call_id']));
}

const outputWording: OutputWording = {
  find: ({ text }) => (isSet(member(text, 'format')) ? { text: { format: member(text, 'format') } } : undefined),
  replace: (body, isKnown) =>
    withMember(body, 'text', withoutEmpty(body['text'], 'format', isKnown ? anyObject : undefined)),
  instruct: (body, text): JsonObject => {
    const { input } = body;
    const said = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : asList(input);
    // As an instruction it would not count for OpenAI, which insists on the word JSON in the input.
    return { ...body, input: [{ type: 'message', role: 'developer', content: text }, ...said] };
  },
};

/** Adapts a Responses request to the capabilities and quirks of a route. */
export const adaptResponses = inOrder(
  adaptLimit(['max_output_tokens']),
  adaptSampling(['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty']),
  adaptUser(['user', 'safety_identifier']),
  adaptLateSystem({ member: 'input', textType: 'input_text', alternates: false }),
  adaptMedia(probe, ['input', 'instructions']),
  adaptHostedTools(hostedSearch),
  adaptStrictTools(relaxTool),
  adaptTools(['tools', 'tool_choice', 'parallel_tool_calls']),
  adaptForcedTools(freeChoice),
  adaptParallelCalls,
  reasoning,
  adaptOutput(probe, outputWording),
  callIds,
  adaptRefused(internalMembers),
);
