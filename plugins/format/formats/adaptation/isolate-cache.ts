import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { AdaptationTarget } from '../contract/adaptation.ts';
import { isSystem } from './adapt-late-system.ts';
import { isSet } from './adapt-members.ts';

type Target = Pick<AdaptationTarget, 'profile' | 'notes'>;

const instructionMarkers: Readonly<Record<string, (body: JsonObject, text: string, target: Target) => JsonObject>> = {
  chat: markMessages,
  completions: (body, text) => ({ ...body, prompt: markPrompt(text, body['prompt']) }),
  ollama: markMessages,
  responses: (body, text) => ({ ...body, instructions: prependLine(text, body['instructions']) }),
  messages: (body, text) => ({ ...body, system: markSystem(text, body['system']) }),
  gemini(body, text) {
    const name = body['system_instruction'] === undefined ? 'systemInstruction' : 'system_instruction';
    const instructions = body[name];
    const { parts, ...others } = isJsonObject(instructions) ? instructions : {};
    return { ...body, [name]: { ...others, parts: [{ text }, ...readParts(instructions, parts)] } };
  },
};

/**
 * Keeps the prompt caches of accounts apart. If the vendor has a field that separates caches, the field gets the account's mark. Otherwise
 * both the first tool and the instructions start with the mark, because vendors cache by prefix and read one of the two first.
 *
 * Sources: DeepSeek docs, "Rate Limit & Isolation" (`user_id`); vLLM docs, "Automatic Prefix Caching" (`cache_salt`); Anthropic and OpenAI
 * docs, "Prompt caching" (caches belong to the operator's account and are found by their prefix).
 *
 * @param mark the account's mark; undefined to leave the body unchanged
 */
export function isolateCache(body: JsonObject, format: string, mark: string | undefined, target: Target): JsonObject {
  const markInstructions = instructionMarkers[format];
  if (mark === undefined || markInstructions === undefined) return body;
  target.notes.noteSeparated('the prompt cache by account');
  const { cache_separator: separator } = target.profile.quirks;
  if (separator === 'cache_salt') return { ...body, cache_salt: mark };
  if (separator === 'user_id') return format === 'messages' ? markMetadata(body, mark) : { ...body, user_id: mark };
  const text = `[${mark}]`;
  return markInstructions(markFirstTool(body, text), text, target);
}

function markMetadata(body: JsonObject, mark: string): JsonObject {
  const { metadata } = body;
  return { ...body, metadata: { ...(isJsonObject(metadata) && metadata), user_id: mark } };
}

function markMessages(body: JsonObject, text: string, { profile }: Target): JsonObject {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const [first, ...others] = messages;
  if (isSystem(first))
    return { ...body, messages: [{ ...first, content: prependText(text, first['content']) }, ...others] };
  return { ...body, messages: [{ role: profile.quirks.system_role, content: text }, ...messages] };
}

function markFirstTool(body: JsonObject, text: string): JsonObject {
  const { tools } = body;
  if (!Array.isArray(tools)) return body;
  for (const [index, tool] of tools.entries()) {
    const markedTool = markDescription(tool, text);
    if (markedTool !== undefined) return { ...body, tools: tools.with(index, markedTool) };
  }
  return body;
}

/** Returns undefined for vendors' own tools, which have no description. */
function markDescription(tool: JsonValue, text: string): JsonObject | undefined {
  if (!isJsonObject(tool)) return undefined;
  const prependDescription = (holder: JsonObject) => ({
    ...holder,
    description: prependLine(text, holder['description']),
  });
  for (const name of ['functionDeclarations', 'function_declarations']) {
    const [first, ...others] = Array.isArray(tool[name]) ? tool[name] : [];
    if (isJsonObject(first)) return { ...tool, [name]: [prependDescription(first), ...others] };
  }
  for (const name of ['function', 'custom']) {
    const inner = tool[name];
    if (isJsonObject(inner)) return { ...tool, [name]: prependDescription(inner) };
  }
  return typeof tool['name'] === 'string' && (tool['description'] !== undefined || tool['input_schema'] !== undefined)
    ? prependDescription(tool)
    : undefined;
}

/** Replaces a value that is neither a text nor a list of parts. */
function prependText(text: string, content: JsonValue | undefined): JsonValue {
  return Array.isArray(content) ? [{ type: 'text', text }, ...content] : prependLine(text, content);
}

/** Keeps a malformed value, for the upstream to reject. */
function markSystem(text: string, system: JsonValue | undefined): JsonValue {
  return isSet(system) && typeof system !== 'string' && !Array.isArray(system) ? system : prependText(text, system);
}

/** Prompts given as token ids cannot take a text. */
function markPrompt(text: string, prompt: JsonValue | undefined): JsonValue {
  if (!Array.isArray(prompt)) return prependLine(text, prompt);
  return prompt.map((entry) => (typeof entry === 'string' ? prependLine(text, entry) : entry));
}

function prependLine(text: string, existing: JsonValue | undefined): string {
  return typeof existing === 'string' && existing !== '' ? `${text}\n${existing}` : text;
}

function readParts(instructions: JsonValue | undefined, parts: JsonValue | undefined): JsonValue[] {
  if (typeof instructions === 'string') return [{ text: instructions }];
  if (Array.isArray(parts)) return parts;
  return isJsonObject(parts) ? [parts] : [];
}
