import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../canonical/codec.ts';
import type { ClientTool, Conversation, Effort } from '../../canonical/conversation.ts';
import { instructionText } from '../../canonical/dialogue.ts';
import { clampEffort, requestedEffort } from '../../canonical/reasoning.ts';
import { isClientTool } from '../../canonical/tool-names.ts';
import { describeFreeform, freeformSchema } from '../../canonical/tools.ts';
import { writeFormat } from '../../canonical/output-format.ts';
import { writeMessages } from './write-messages.ts';
import { withoutUnset } from '../../wire/members.ts';
import type { OllamaMessage, OllamaOptions, OllamaRequest, OllamaTool } from '../../wire/ollama.ts';

/** Levels that the format has words for. */
const levels: ReadonlySet<Effort> = new Set(['low', 'medium', 'high']);

/**
 * Encodes a chat request. Source: Ollama API reference, "Generate a chat message".
 *
 * @throws GatewayError `not_supported`, `unsupported_content`
 */
export function encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject {
  const { format, instruction } = writeFormat(conversation, target);
  const options = withoutUnset(writeOptions(conversation));
  noteUnsaid(conversation, target);
  const request: OllamaRequest = {
    model: target.model,
    messages: [...writeInstructions(conversation, instruction), ...writeMessages(conversation.items, target)],
    tools: writeTools(conversation, target),
    format: format?.['type'] === 'json_schema' ? format['schema'] : format && 'json',
    options: Object.keys(options).length === 0 ? undefined : options,
    think: writeThink(conversation, target),
    stream: target.isStream,
  };
  return withoutUnset(request);
}

function writeInstructions(conversation: Conversation, more: string | undefined): OllamaMessage[] {
  const content = [instructionText(conversation), more ?? ''].filter((one) => one !== '').join('\n\n');
  return content === '' ? [] : [{ role: 'system', content }];
}

function writeOptions({ sampling, maxOutputTokens, stop }: Conversation): OllamaOptions {
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: sampling.topK,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    num_predict: maxOutputTokens,
    stop: stop.length === 0 ? undefined : [...stop],
  };
}

/** Without a request of the client, nothing is sent, and the default of the model applies. */
function writeThink({ reasoning }: Conversation, { profile, notes }: EncodeTarget): boolean | string | undefined {
  const wanted = requestedEffort(reasoning);
  if (wanted === undefined) return undefined;
  const { capabilities, quirks } = profile;
  if (!capabilities.reasoning || quirks.reasoning === 'none') {
    if (wanted !== 'none') notes.drop('reasoning');
    return undefined;
  }
  if (wanted === 'none' || quirks.reasoning === 'enable_thinking') return wanted !== 'none';
  const known = quirks.efforts.filter((effort) => levels.has(effort));
  const level = clampEffort(wanted, known);
  if (level !== wanted) notes.approximate(`reasoning effort as ${level}`);
  return level;
}

/** Calls can neither be forced nor forbidden: a tool that may not be called is left out. */
function writeTools(conversation: Conversation, target: EncodeTarget): JsonValue | undefined {
  const { tools, toolChoice, parallelToolCalls } = conversation;
  const { notes, profile } = target;
  if (!profile.capabilities.tools) {
    if (tools.length > 0) notes.drop('tools');
    return undefined;
  }
  if (!tools.every(isClientTool)) notes.drop('web_search');
  const { type, name, allowed = name === undefined ? undefined : [name] } = toolChoice ?? {};
  if (parallelToolCalls === false && tools.length > 0) notes.drop('parallel_tool_calls');
  if (type === 'required' || type === 'tool') notes.approximate('forced tool_choice as auto');
  const callable = tools.filter(isClientTool).filter((tool) => allowed?.includes(tool.name) !== false);
  if (type === 'none' || callable.length === 0) return undefined;
  return callable.map((tool) => writeTool(tool, target));
}

function writeTool(tool: ClientTool, { names, notes }: EncodeTarget): OllamaTool {
  const isFreeform = tool.form === 'freeform';
  if (isFreeform) notes.approximate('freeform tools as functions');
  if (tool.strict === true) notes.drop('strict of tools');
  return {
    type: 'function',
    function: {
      name: names.toWire(tool.name, tool.namespace),
      description: (isFreeform ? describeFreeform(tool) : tool.description) ?? '',
      parameters: isFreeform ? freeformSchema() : (tool.schema ?? { type: 'object', properties: {} }),
    },
  };
}

/** Notes what the format cannot express. */
function noteUnsaid(conversation: Conversation, { notes }: EncodeTarget): void {
  const { user, safetyId, verbosity, cacheKey, isCacheKeyImplied, serviceTier, metadata } = conversation;
  const unsaid = {
    user,
    safety_identifier: safetyId,
    verbosity,
    prompt_cache_key: isCacheKeyImplied === true ? undefined : cacheKey,
    service_tier: serviceTier,
    metadata,
  };
  notes.dropSet(unsaid);
}
