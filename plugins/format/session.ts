import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '#core/json.ts';
import { member } from './members.ts';

/** Headers in which tools name their conversation: Claude Code, Codex, OpenCode. */
const sessionHeaders = ['x-claude-code-session-id', 'session-id', 'x-session-id'];
/** Characters that count of a name; tools put whole JSON texts there. */
const longest = 512;

/** What requests of one conversation have in common, as the client names it: vendors cache prompts by conversation. */
export function sessionOf(headers: IncomingHttpHeaders, body: JsonObject): string | undefined {
  const { prompt_cache_key: cacheKey } = body;
  if (typeof cacheKey === 'string' && cacheKey !== '') return cacheKey.slice(0, longest);
  for (const name of sessionHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, longest);
  }
  const user = member(body['metadata'], 'user_id');
  return typeof user === 'string' && user !== '' ? user.slice(0, longest) : undefined;
}
