import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

/** Average characters per token, over languages and tokenizers. */
const charactersPerToken = 4;
/** Tokens of an image, a document or a recording. Source: Anthropic docs, "Vision": about 1,600 at most. */
const tokensPerAttachment = 1_500;
/** An image that a model makes, in characters of text with as many tokens. */
export const charactersPerImage = tokensPerAttachment * charactersPerToken;
const tokensPerObject = 3; // tokens that roles and delimiters add to every message, tool and block
/** Members whose text is data, not words. */
const attachmentNames = new Set(['data', 'image_url', 'file_data', 'file_url', 'inlineData', 'fileData', 'url']);
/** Members that hold opaque reasoning state. */
const stateNames = new Set(['signature', 'encrypted_content', 'thoughtSignature']);
/** Top-level members of all formats that a model reads; all others are settings. */
const promptNames = new Set([
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

type TextEstimate = (text: string) => number;

/** A cheap estimate, where the upstream has not counted and the answer must not wait for a tokenizer. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

/** Tokens that a request takes, in any format. @param ofText left out, texts are measured, not read */
export function promptTokens(request: JsonObject, ofText: TextEstimate = ofLength): number {
  // A request to count tokens at Google holds the request for an answer.
  const packed = request['generateContentRequest'];
  let tokens = isJsonObject(packed) ? promptTokens(packed, ofText) : 0;
  for (const name of promptNames) tokens += tokensOf(name, request[name], ofText);
  return tokens;
}

/** Tokens that a part of a request or of a reply takes. @param name of the member that holds it */
function tokensOf(name: string, value: JsonValue | undefined, ofText: TextEstimate = ofLength): number {
  if (typeof value === 'string') return stringTokens(name, value, ofText);
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + tokensOf(name, entry, ofText), 0);
  if (!isJsonObject(value)) return value === null || value === undefined ? 0 : 1;
  let tokens = tokensPerObject;
  for (const [member, inner] of Object.entries(value)) tokens += nameTokens(member) + tokensOf(member, inner, ofText);
  return tokens;
}

function ofLength(text: string): number {
  return estimateTokens(text.length);
}

function stringTokens(name: string, value: string, ofText: TextEstimate): number {
  if (stateNames.has(name)) return 0;
  return isAttachment(name, value) ? tokensPerAttachment : ofText(value);
}

/** True for long base64 in a member that holds data; a short text there is text. */
function isAttachment(name: string, value: string): boolean {
  return attachmentNames.has(name) && (value.length > 256 || value.startsWith('data:'));
}

/** Member names of the format are not part of the prompt, but names of a tool's parameters are. */
function nameTokens(name: string): number {
  return name === 'type' || name === 'text' || name === 'role' || name === 'content' ? 0 : 1;
}
