import type { TextFormat } from '#core/catalog/formats.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Notes } from '../canonical/notes.ts';
import { camelName } from '../gemini/fields.ts';
import { member } from '../request/members.ts';
import { isSaid, mapMembers, without } from './adapt-members.ts';
import type { SwitchTarget } from './adaptation-probe.ts';

/** What each format calls tools, and what goes with them. */
const toolNames: Readonly<Record<TextFormat, readonly string[]>> = {
  chat: ['tools', 'functions', 'tool_choice', 'function_call', 'parallel_tool_calls'],
  responses: ['tools', 'tool_choice', 'parallel_tool_calls'],
  messages: ['tools', 'tool_choice'],
  gemini: ['tools', 'toolConfig', 'tool_config'],
};

/** Tools, the choice among them, and how many may be called at once, as far as the route knows of them. */
export function switchTools(format: TextFormat, body: JsonObject, target: SwitchTarget): JsonObject {
  const { traits, notes } = target;
  const { capabilities, parameters } = traits;
  if (!capabilities.tools) return withoutTools(format, body, notes);
  const chosen = parameters.forced_tools ? body : withoutForce(format, body, notes);
  if (format !== 'chat' && format !== 'responses') return chosen;
  if (!parameters.parallel_switch) return without(chosen, ['parallel_tool_calls'], notes);
  const isTooMuch = !capabilities.parallel_tools && chosen['parallel_tool_calls'] === true;
  return isTooMuch ? { ...chosen, parallel_tool_calls: false } : chosen;
}

function withoutTools(format: TextFormat, body: JsonObject, notes: Notes): JsonObject {
  const rest = without(body, toolNames[format]);
  const isLoss = [body['tools'], body['functions']].some((tools) => Array.isArray(tools) && tools.length > 0);
  if (isLoss) notes.drop('tools');
  return rest;
}

/** A choice that leaves no choice becomes one that the model makes. */
function withoutForce(format: TextFormat, body: JsonObject, notes: Notes): JsonObject {
  const free = mapMembers(body, (name, value) => freed(format, name, value));
  if (free !== body) notes.approximate('forced tool_choice as auto');
  return free;
}

function freed(format: TextFormat, name: string, value: JsonValue): JsonValue {
  if (format === 'gemini') return camelName(name) === 'toolConfig' ? freeConfig(value) : value;
  if (name === 'function_call' && format === 'chat') return isForced(value) || isJsonObject(value) ? 'auto' : value;
  if (name !== 'tool_choice' || !isForced(value)) return value;
  return format === 'messages' && isJsonObject(value) ? freeChoice(value) : freeWord(value);
}

function isForced(choice: JsonValue): boolean {
  if (!isJsonObject(choice)) return typeof choice === 'string' && choice !== 'auto' && choice !== 'none';
  const { type } = choice;
  if (type === 'allowed_tools') return modeOf(choice) === 'required';
  return isSaid(type) && type !== 'auto' && type !== 'none';
}

/** Chat has it one level deeper than Responses. */
function modeOf(choice: JsonObject): JsonValue | undefined {
  return choice['mode'] ?? member(choice['allowed_tools'], 'mode');
}

function freeWord(choice: JsonValue): JsonValue {
  if (member(choice, 'type') !== 'allowed_tools' || !isJsonObject(choice)) return 'auto';
  const { allowed_tools: allowed } = choice;
  return isJsonObject(allowed)
    ? { ...choice, allowed_tools: { ...allowed, mode: 'auto' } }
    : { ...choice, mode: 'auto' };
}

/** How many may be called at once stands beside it. */
function freeChoice({ disable_parallel_tool_use: isAlone }: JsonObject): JsonObject {
  return { type: 'auto', ...(isSaid(isAlone) && { disable_parallel_tool_use: isAlone }) };
}

function freeConfig(config: JsonValue): JsonValue {
  if (!isJsonObject(config)) return config;
  return mapMembers(config, (name, value) => {
    if (camelName(name) !== 'functionCallingConfig') return value;
    const mode = member(value, 'mode');
    return typeof mode === 'string' && mode.toUpperCase() === 'ANY' ? { mode: 'AUTO' } : value;
  });
}
