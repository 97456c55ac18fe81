import type { JsonValue } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import { minBudget } from '../../../canonical/reasoning.ts';
import { noteGatewayStops } from '../../../canonical/stop-cutter.ts';
import { asFilledText, listTexts } from '../../../wire/members.ts';
import { compileParameters } from '../../contract/parameters.ts';
import * as rule from '../../contract/rules.ts';

/** Limits for values. Sources: Anthropic API reference, "Create a Message"; docs, "Extended thinking". */
export const messagesBounds = {
  temperature: 1,
  /** The smallest `top_p` that is accepted together with thinking. */
  thinkingTopP: 0.95,
  /** The smallest thinking budget, in tokens. */
  thinkingTokens: minBudget,
  userLength: 256,
} as const;

const tiers: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
]);

/** Source: Anthropic API reference, "Create a Message". */
export const messagesParameters = compileParameters(
  {
    messages: rule.nonEmptyObjects,
    stream: rule.boolean,
    system: rule.textOr(rule.objects),
    max_tokens: { is: rule.integer(1), to: 'maxOutputTokens', writtenBy: 'encoder' },
    temperature: { is: rule.number(0, messagesBounds.temperature), to: 'temperature', writtenBy: 'encoder' },
    top_p: { is: rule.number(0, 1), to: 'topP', writtenBy: 'encoder' },
    top_k: { is: rule.integer(0), to: 'topK', writtenBy: 'encoder' },
    stop_sequences: { is: rule.texts, to: 'stop', read: listTexts, write: writeStop },
    tools: rule.objects,
    tool_choice: rule.object,
    thinking: rule.object,
    'thinking.type': rule.oneOf(
      ['enabled', 'adaptive', 'between_tools', 'disabled'],
      'enabled, adaptive, between_tools or disabled',
    ),
    output_config: rule.object,
    'output_config.effort': rule.text,
    metadata: rule.object,
    'metadata.user_id': { is: rule.text, to: 'user', read: asFilledText, writtenBy: 'encoder' },
    service_tier: { is: rule.text, to: 'serviceTier', read: readTier, write: (tier) => tiers.get(tier) },
  },
  {
    unmappedMembers: ['model', 'cache_control', 'output_format', 'output_config.format'],
    closedObjects: { output_config: () => true },
    encodedSettings: ['safetyId', 'metadata'],
  },
);

function readTier(tier: JsonValue): string | undefined {
  return tier === 'standard_only' ? 'default' : asFilledText(tier);
}

function writeStop(stop: readonly string[], { notes }: EncodeTarget): string[] | undefined {
  // Anthropic rejects sequences that are only white space.
  const acceptedStops = stop.filter((sequence) => sequence.trim() !== '');
  if (acceptedStops.length < stop.length) noteGatewayStops(notes);
  return acceptedStops.length === 0 ? undefined : acceptedStops;
}
