import { GatewayError } from '#core/errors/table.ts';
import type { JsonObject } from '#core/json.ts';
import type { EncodeTarget } from '../canonical/codec.ts';
import type { Conversation } from '../canonical/conversation.ts';
import { instructionText } from '../canonical/dialogue.ts';
import { wantedEffort } from '../canonical/effort.ts';
import { noteCutting } from '../canonical/stop-cutter.ts';
import { shortenId } from '../canonical/short-id.ts';
import { writeFormat } from '../canonical/write-output-format.ts';
import { noteReasoningDropped, refusesToolsWithReasoning } from './reasoning-with-tools.ts';
import { writeMessages } from './write-messages.ts';
import { writeReasoning } from './write-reasoning.ts';
import { writeTools } from './write-tools.ts';

const tiers = new Set(['auto', 'default', 'flex', 'scale', 'priority']);

/**
 * Writes a request for a chat completion. Source: OpenAI API reference, "Create chat completion"; how vendors bend it
 * stands in the profile.
 *
 * @throws GatewayError `not_supported`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  // The format has a word for it, but a reply that is read and written again has room for one answer.
  if (conversation.candidates > 1) {
    throw new GatewayError('not_supported', 'This model gives one answer at a time.', { param: 'n' });
  }
  const { format, instruction } = writeFormat(conversation, target);
  const tools = writeTools(conversation, target);
  return withoutUnset({
    model: target.model,
    messages: [...writeInstructions(conversation, instruction, target), ...writeMessages(conversation.items, target)],
    ...tools,
    ...writeThinking(conversation, target, tools['tools'] !== undefined),
    response_format: nestFormat(format),
    ...writeLimit(conversation, target),
    ...writeSampling(conversation, target),
    stop: writeStop(conversation, target),
    user: writeUser(conversation, target),
    ...writeExtras(conversation, target),
    stream: target.isStream,
    stream_options: target.isStream && target.profile.quirks.stream_usage ? { include_usage: true } : undefined,
  });
}

function withoutUnset(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

function writeInstructions(
  conversation: Conversation,
  more: string | undefined,
  { profile }: EncodeTarget,
): JsonObject[] {
  const text = [instructionText(conversation), more ?? ''].filter((one) => one !== '').join('\n\n');
  return text === '' ? [] : [{ role: profile.quirks.system_role, content: text }];
}

function writeThinking(conversation: Conversation, target: EncodeTarget, hasTools: boolean): JsonObject {
  if (!hasTools || !refusesToolsWithReasoning(target.profile)) return writeReasoning(conversation, target);
  if (wantedEffort(conversation.reasoning) !== 'none') noteReasoningDropped(target.notes);
  return { reasoning_effort: 'none' };
}

/** Responses says it flat, this format one level deeper. */
function nestFormat(format: JsonObject | undefined): JsonObject | undefined {
  if (format?.['type'] !== 'json_schema') return format;
  const { type, ...wanted } = format;
  return { type, json_schema: wanted };
}

function writeLimit({ maxOutputTokens }: Conversation, { profile, notes }: EncodeTarget): JsonObject {
  if (maxOutputTokens === undefined) return {};
  const { max_tokens_name: name, max_output_tokens: most = Infinity } = profile.quirks;
  const limit = Math.min(maxOutputTokens, most);
  if (limit !== maxOutputTokens) notes.approximate(`the limit of output tokens as ${limit}`);
  return { [name]: limit };
}

function writeSampling({ sampling }: Conversation, { profile, notes }: EncodeTarget): JsonObject {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed } = sampling;
  if (topK !== undefined) notes.drop('top_k');
  const wanted: JsonObject = {
    temperature,
    top_p: topP,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
  };
  const { sampling: isTaken, seed_name: seedName } = profile.quirks;
  if (isTaken) return { ...wanted, [seedName]: seed };
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) notes.drop(name);
  return { [seedName]: seed };
}

function writeStop({ stop }: Conversation, { profile, notes }: EncodeTarget): string[] | undefined {
  const most = profile.quirks.stop;
  if (stop.length > most) noteCutting(notes);
  const kept = stop.slice(0, most);
  return kept.length === 0 ? undefined : kept;
}

function writeUser({ user }: Conversation, { profile, notes }: EncodeTarget): string | undefined {
  if (user === undefined) return undefined;
  if (profile.quirks.end_user) return shortenId(user);
  notes.drop('user');
  return undefined;
}

/**
 * Members that OpenAI has and many others refuse. They are as new as custom tools, so whoever knows those knows these.
 */
function writeExtras(conversation: Conversation, { profile, notes }: EncodeTarget): JsonObject {
  const { verbosity, cacheKey, serviceTier, metadata } = conversation;
  const isKnownTier = serviceTier !== undefined && tiers.has(serviceTier);
  if (serviceTier !== undefined && !isKnownTier) notes.drop('service_tier');
  // OpenAI takes it only from who has the answer stored there.
  if (metadata !== undefined) notes.drop('metadata');
  const extras: JsonObject = {
    verbosity,
    prompt_cache_key: cacheKey && shortenId(cacheKey),
    service_tier: isKnownTier ? serviceTier : undefined,
  };
  if (profile.quirks.freeform_tools) return extras;
  for (const [name, value] of Object.entries(extras)) if (value !== undefined) notes.drop(name);
  return {};
}
