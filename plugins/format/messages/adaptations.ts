import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { adaptLateSystem } from '../pass-through/adapt-late-system.ts';
import { adaptMedia } from '../pass-through/adapt-media.ts';
import { isSet, withMember, without } from '../pass-through/adapt-members.ts';
import { adaptOutput, instructedText, type OutputWording, withoutEmpty } from '../pass-through/adapt-output-format.ts';
import { adaptRefused } from '../pass-through/adapt-refused.ts';
import { adaptLimit, adaptSampling, adaptStops, adaptUser } from '../pass-through/adapt-parameters.ts';
import {
  adaptForcedTools,
  adaptStrictTools,
  adaptTools,
  isForced,
  withoutStrict,
} from '../pass-through/adapt-tools.ts';
import { type Adaptation, inOrder, type Probe } from '../pass-through/adaptation.ts';
import { member } from '../request/members.ts';
import { adaptBillingHeader } from './adapt-billing.ts';
import { adaptServerTools, adaptToolReferences } from './adapt-server-tools.ts';
import { adaptThinking } from './adapt-thinking.ts';
import { messagesCodec } from './codec.ts';
import { stateKinds, toolNames } from './names.ts';
import { replayThinking } from './replay-thinking.ts';

const probe: Probe = {
  codec: messagesCodec,
  toolNames,
  stateKinds,
  dialogue: { messages: [{ role: 'user', content: '.' }] },
};

/** Beta features of Anthropic, which refuses them without their header, as other vendors do always. */
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

const oneCallAtATime: Adaptation = (body, { profile, notes }) => {
  const { tool_choice: choice } = body;
  if (profile.quirks.parallel_switch || !isJsonObject(choice)) return body;
  const { disable_parallel_tool_use: isSerial, ...others } = choice;
  if (isSerial === true) notes.drop('parallel_tool_calls');
  return isSerial === undefined ? body : { ...body, tool_choice: others };
};

/** Parallel tool calls are controlled next to the choice of tools. */
function freeTools(name: string, choice: JsonValue): JsonValue {
  if (name !== 'tool_choice' || !isForced(choice)) return choice;
  const { disable_parallel_tool_use: isAlone } = isJsonObject(choice) ? choice : {};
  return { type: 'auto', ...(isSet(isAlone) && { disable_parallel_tool_use: isAlone }) };
}

const outputWording: OutputWording = {
  find: ({ output_config, output_format }): JsonObject | undefined => {
    const format = member(output_config, 'format');
    if (isSet(format)) return { output_config: { format } };
    return isSet(output_format) ? { output_format } : undefined;
  },
  replace: (body) =>
    withMember(
      without(body, ['output_format']),
      'output_config',
      withoutEmpty(body['output_config'], 'format', undefined),
    ),
  instruct: (body, text) => ({ ...body, system: instructedText(body['system'], text) }),
};

/** Adapts a Messages request to the capabilities and quirks of a route. */
export const adaptMessagesRequest = inOrder(
  adaptLimit(['max_tokens']),
  adaptSampling(['temperature', 'top_p', 'top_k']),
  adaptUser(['metadata']),
  adaptStops('stop_sequences'),
  adaptBillingHeader,
  adaptLateSystem({ member: 'messages', textType: 'text', alternates: true, instructions: 'system' }),
  adaptMedia(probe, ['messages', 'system']),
  adaptServerTools(probe),
  adaptToolReferences,
  adaptStrictTools(withoutStrict),
  adaptTools(['tools', 'tool_choice']),
  oneCallAtATime,
  adaptForcedTools(freeTools),
  adaptThinking(probe),
  replayThinking,
  adaptOutput(probe, outputWording),
  adaptRefused(betaMembers),
);
