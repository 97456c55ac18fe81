import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { AdaptationTarget } from '../contract/adaptation.ts';

/** Functions that put a text at the beginning of the instructions, by format. */
const instructed: Readonly<Record<string, (body: JsonObject, text: string, target: Target) => JsonObject>> = {
  chat: inMessages,
  completions: (body, text) => ({ ...body, prompt: beforePrompt(text, body['prompt']) }),
  ollama: inMessages,
  responses: (body, text) => ({ ...body, instructions: joined(text, body['instructions']) }),
  messages: (body, text) => ({ ...body, system: prepended(text, body['system'], 'text') }),
  gemini(body, text) {
    const name = body['system_instruction'] === undefined ? 'systemInstruction' : 'system_instruction';
    const given = body[name];
    const { parts, ...others } = isJsonObject(given) ? given : {};
    return { ...body, [name]: { ...others, parts: [{ text }, ...partsOf(given, parts)] } };
  },
};

type Target = Pick<AdaptationTarget, 'profile' | 'notes'>;

/**
 * Separates the prompt caches of accounts. If the vendor separates caches by a field, the field gets the mark of the account. Otherwise
 * prompts begin with the mark: vendors cache by prefix and read tools or instructions first, so both get the mark.
 *
 * Sources: DeepSeek docs, "Rate Limit & Isolation" (`user_id`); vLLM docs, "Automatic Prefix Caching" (`cache_salt`); Anthropic and OpenAI
 * docs, "Prompt caching" (caches belong to the account of the operator, and are found by their prefix).
 *
 * @param mark mark of the account; without it the body stays unchanged
 */
export function isolateCache(body: JsonObject, format: string, mark: string | undefined, target: Target): JsonObject {
  const begin = instructed[format];
  if (mark === undefined || begin === undefined) return body;
  target.notes.separate('the prompt cache by account');
  const { cache_separator: separator } = target.profile.quirks;
  if (separator === 'cache_salt') return { ...body, cache_salt: mark };
  if (separator === 'user_id') return format === 'messages' ? inMetadata(body, mark) : { ...body, user_id: mark };
  const text = `[${mark}]`;
  return begin(withMarkedTool(body, text), text, target);
}

function inMetadata(body: JsonObject, mark: string): JsonObject {
  const { metadata } = body;
  return { ...body, metadata: { ...(isJsonObject(metadata) && metadata), user_id: mark } };
}

function inMessages(body: JsonObject, text: string, { profile }: Target): JsonObject {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  const [first, ...others] = messages;
  if (isJsonObject(first) && (first['role'] === 'system' || first['role'] === 'developer'))
    return { ...body, messages: [{ ...first, content: prepended(text, first['content'], 'text', true) }, ...others] };
  return { ...body, messages: [{ role: profile.quirks.system_role, content: text }, ...messages] };
}

/** Marks the first tool whose description can carry the text. */
function withMarkedTool(body: JsonObject, text: string): JsonObject {
  const { tools } = body;
  if (!Array.isArray(tools)) return body;
  let isMarked = false;
  const marked = tools.map((tool) => {
    const described = isMarked ? undefined : describedTool(tool, text);
    isMarked ||= described !== undefined;
    return described ?? tool;
  });
  return isMarked ? { ...body, tools: marked } : body;
}

/** Puts a text at the beginning of a tool's description; undefined for vendor tools, which have no description. */
function describedTool(tool: JsonValue, text: string): JsonObject | undefined {
  if (!isJsonObject(tool)) return undefined;
  const describe = (holder: JsonObject) => ({ ...holder, description: joined(text, holder['description']) });
  for (const name of ['functionDeclarations', 'function_declarations']) {
    const [first, ...others] = Array.isArray(tool[name]) ? tool[name] : [];
    if (isJsonObject(first)) return { ...tool, [name]: [describe(first), ...others] };
  }
  for (const name of ['function', 'custom']) {
    const inner = tool[name];
    if (isJsonObject(inner)) return { ...tool, [name]: describe(inner) };
  }
  return typeof tool['name'] === 'string' && (tool['description'] !== undefined || tool['input_schema'] !== undefined)
    ? describe(tool)
    : undefined;
}

/**
 * Puts a text before instructions: a string or a list of parts.
 *
 * @param staysText true to replace a value that is neither a string nor a list with the text; false to keep it. An absent value
 *   always becomes the text.
 */
function prepended(text: string, given: JsonValue | undefined, type: string, staysText = false): JsonValue {
  if (Array.isArray(given)) return [{ type, text }, ...given];
  return staysText || typeof given === 'string' || given === undefined || given === null ? joined(text, given) : given;
}

/** Puts a text before one or several prompts. Prompts that are token ids cannot take a text. */
function beforePrompt(text: string, prompt: JsonValue | undefined): JsonValue {
  if (!Array.isArray(prompt)) return joined(text, prompt);
  return prompt.map((one) => (typeof one === 'string' ? joined(text, one) : one));
}

function joined(text: string, given: JsonValue | undefined): string {
  return typeof given === 'string' && given !== '' ? `${text}\n${given}` : text;
}

/** Gemini also accepts instructions as one text. */
function partsOf(given: JsonValue | undefined, parts: JsonValue | undefined): JsonValue[] {
  if (typeof given === 'string') return [{ text: given }];
  if (Array.isArray(parts)) return parts;
  return isJsonObject(parts) ? [parts] : [];
}
