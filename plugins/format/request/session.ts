import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { member } from '../wire/members.ts';

/** Headers in which tools name their conversation: Claude Code, Codex, OpenCode. */
const sessionHeaders = ['x-claude-code-session-id', 'session-id', 'x-session-id'];
const longest = 512; // characters that count of a name; tools put whole JSON texts there

/** The client's name of the conversation, because vendors cache prompts by conversation. */
export function readSession(headers: IncomingHttpHeaders, body: JsonObject): string | undefined {
  const { prompt_cache_key: cacheKey } = body;
  if (typeof cacheKey === 'string' && cacheKey !== '') return cacheKey.slice(0, longest);
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, longest);
  }
  const user = member(body['metadata'], 'user_id');
  return typeof user === 'string' && user !== '' ? user.slice(0, longest) : undefined;
}

const longestOpening = 65_536; // characters that count of the beginning of a conversation
/** The first message of the user, which stays the same in each turn of a conversation; instructions may tell the time. */
export function firstQuestionOf({ messages }: JsonObject): string {
  const first = Array.isArray(messages) ? messages.find((message) => member(message, 'role') === 'user') : undefined;
  return beginningOf(first ?? null);
}

/** The JSON of a value up to the number of characters that count. */
function beginningOf(value: JsonValue): string {
  let left = longestOpening;
  const text = JSON.stringify(value, (name, inner: unknown) => {
    // Clients move their cache breakpoints along with the end of the conversation.
    if (left < 0 || name === 'cache_control') return undefined;
    left -= 1;
    if (typeof inner !== 'string') return inner;
    const counted = inner.length > left ? inner.slice(0, left + 1) : inner;
    left -= inner.length;
    return counted;
  });
  return text.slice(0, longestOpening);
}
