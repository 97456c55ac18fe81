import type { Usage } from '#core/gateway/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

const charactersPerToken = 4; // average across languages and tokenizers
/** Tokens for an image, a document or a recording. Source: Anthropic docs, "Vision": at most about 1,600. */
const tokensPerAttachment = 1_500;
/** Characters of text that cost as many tokens as a generated image. */
export const charactersPerImage = tokensPerAttachment * charactersPerToken;
const tokensPerObject = 3; // the role and delimiters of a message, tool or block
const attachmentMembers = new Set(['data', 'image_url', 'file_data', 'file_url', 'inlineData', 'fileData', 'url']);
const opaqueStateMembers = new Set(['signature', 'encrypted_content', 'thoughtSignature']);
const promptMembers = new Set([
  'messages',
  'input',
  'instructions',
  'system',
  'contents',
  'systemInstruction',
  'system_instruction',
  'tools',
  'functions',
  'prompt',
]);

type EstimateText = (text: string) => number;

/** Estimates tokens that the upstream did not count. Must be cheap, because the answer must not wait for a tokenizer. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

/**
 * Removes counts of zero tokens, which an answer with content cannot have. They are reported by Ollama 0.17.4 when it aborts an answer that
 * repeats itself, by LiteLLM 1.108.7 in a Completions stream whose client did not ask for usage, and by OGX 1.5.0 in a Messages stream. NeMo
 * Agent Toolkit 1.9.0 counts only the answer when a workflow fails.
 */
export function removeEmptyCounts(reported: Usage): Usage {
  const { input, output, cacheRead = 0, cacheWrite = 0 } = reported;
  const isPromptCounted = input !== 0 || cacheRead + cacheWrite > 0;
  if (isPromptCounted && output !== 0) return reported;
  return { ...reported, input: isPromptCounted ? input : undefined, output: output === 0 ? undefined : output };
}

/** Estimates the prompt tokens of a request in any format, by default from the lengths of its texts. */
export function estimatePromptTokens(
  request: JsonObject,
  estimateText: EstimateText = ({ length }) => estimateTokens(length),
): number {
  // Google's requests for counting tokens wrap the request to be counted.
  const countedRequest = request['generateContentRequest'];
  let tokens = isJsonObject(countedRequest) ? estimatePromptTokens(countedRequest, estimateText) : 0;
  for (const name of promptMembers) tokens += estimatePart(name, request[name], estimateText);
  return tokens;
}

function estimatePart(name: string, value: JsonValue | undefined, estimateText: EstimateText): number {
  if (typeof value === 'string') return estimateString(name, value, estimateText);
  if (Array.isArray(value))
    return value.reduce<number>((sum, entry) => sum + estimatePart(name, entry, estimateText), 0);
  if (!isJsonObject(value)) return value === null || value === undefined ? 0 : 1;
  let tokens = tokensPerObject;
  for (const [member, inner] of Object.entries(value)) {
    tokens += estimateName(member) + estimatePart(member, inner, estimateText);
  }
  return tokens;
}

function estimateString(name: string, value: string, estimateText: EstimateText): number {
  if (opaqueStateMembers.has(name)) return 0;
  return isAttachment(name, value) ? tokensPerAttachment : estimateText(value);
}

function isAttachment(name: string, value: string): boolean {
  // Short texts in these members are words.
  return attachmentMembers.has(name) && (value.length > 256 || value.startsWith('data:'));
}

function estimateName(name: string): number {
  // Names that belong to a format are not part of the prompt, but names of tool parameters are.
  return name === 'type' || name === 'text' || name === 'role' || name === 'content' ? 0 : 1;
}
