import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { readMember } from '../wire/members.ts';

const sessionHeaders = ['x-claude-code-session-id', 'session-id', 'x-session-id']; // Claude Code, Codex, OpenCode
const maxNameLength = 512; // characters; some tools send whole JSON texts as names

/** Reads the client's id of the conversation, because vendors cache prompts by conversation. */
export function readSession(headers: IncomingHttpHeaders, body: JsonObject): string | undefined {
  const { prompt_cache_key: cacheKey } = body;
  if (typeof cacheKey === 'string' && cacheKey !== '') return cacheKey.slice(0, maxNameLength);
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, maxNameLength);
  }
  const user = readMember(body['metadata'], 'user_id');
  return typeof user === 'string' && user !== '' ? user.slice(0, maxNameLength) : undefined;
}

const maxMessageLength = 65_536; // characters

/** Serializes the first user message. It stays the same in each turn of a conversation, whereas instructions may contain the time. */
export function serializeFirstUserMessage({ messages }: JsonObject): string {
  const firstMessage = Array.isArray(messages)
    ? messages.find((message) => readMember(message, 'role') === 'user')
    : undefined;
  return serializeStart(firstMessage ?? null);
}

function serializeStart(value: JsonValue): string {
  let remainingLength = maxMessageLength;
  const text = JSON.stringify(value, (name, inner: unknown) => {
    // Clients move their cache breakpoints as the conversation grows.
    if (remainingLength < 0 || name === 'cache_control') return undefined;
    remainingLength -= 1;
    if (typeof inner !== 'string') return inner;
    const start = inner.length > remainingLength ? inner.slice(0, remainingLength + 1) : inner;
    remainingLength -= inner.length;
    return start;
  });
  return text.slice(0, maxMessageLength);
}
