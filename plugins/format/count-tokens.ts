import { estimateTokenCount } from 'tokenx';
import { isJsonObject, type JsonValue } from '#core/json.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import type { ClientRequest } from './client-request.ts';

/** Tokens for which an image, a document or a recording stands. Source: Anthropic docs, "Vision": about 1,600 at most. */
const tokensPerAttachment = 1_500;
/** Tokens that roles and delimiters add to every message, tool and block. */
const tokensPerObject = 3;
/** Members whose text is data, not words. */
const attachmentNames = new Set(['data', 'image_url', 'file_data', 'file_url', 'inlineData', 'fileData', 'url']);
/** Members at the top that are no part of the prompt. */
const settings = new Set([
  'model',
  'stream',
  'metadata',
  'max_tokens',
  'thinking',
  'output_config',
  'generationConfig',
]);

/**
 * Answers how many tokens a request would take, in the client's format, where no route counts by itself. An estimate:
 * clients decide by it when to shorten a conversation, and vendors count differently anyway.
 */
export function countTokens({ format, body }: ClientRequest): Reply {
  let tokens = 0;
  for (const [name, value] of Object.entries(body)) if (!settings.has(name)) tokens += tokensOf(name, value);
  const answer = format === 'gemini' ? { totalTokens: tokens } : { input_tokens: tokens };
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(answer),
  };
}

function tokensOf(name: string, value: JsonValue | undefined): number {
  if (typeof value === 'string') return isAttachment(name, value) ? tokensPerAttachment : estimateTokenCount(value);
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + tokensOf(name, entry), 0);
  if (!isJsonObject(value)) return value === null || value === undefined ? 0 : 1;
  let tokens = tokensPerObject;
  for (const [member, inner] of Object.entries(value)) tokens += nameTokens(member) + tokensOf(member, inner);
  return tokens;
}

/** Long base64 under a name that holds data; a short text of that name is a text. */
function isAttachment(name: string, value: string): boolean {
  return attachmentNames.has(name) && (value.length > 256 || value.startsWith('data:'));
}

/** Names of the format are no words of the prompt, names of a tool's parameters are. */
function nameTokens(name: string): number {
  return name === 'type' || name === 'text' || name === 'role' || name === 'content' ? 0 : 1;
}
