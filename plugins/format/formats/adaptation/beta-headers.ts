import type { IncomingHttpHeaders } from 'node:http';
import type { Profile } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { FormatDescriptor } from '../contract/descriptor.ts';

/**
 * Client headers that OpenAI supports, most of which Codex sends. Omits `openai-organization` and `openai-project`, which belong to the
 * client's own key. Sources: OpenAI API reference, "Debugging requests"; openai/codex, codex-api.
 */
export const openaiBetaHeaders: readonly string[] = [
  'openai-beta',
  'x-client-request-id',
  'x-openai-internal-*',
  'x-codex-*',
  'originator',
  'session-id',
  'session_id',
  'thread-id',
];

/** Anthropic and the clouds require it for `safeguards`. */
const safeguardsBeta = 'dangerous-tool-use-2026-09-03';

/**
 * Selects the client's headers that enable beta features or identify its tool, if the route leads to the vendor that supports them; empty
 * for other vendors. Headers in the body take precedence, because they are newer than those of a WebSocket's handshake.
 */
export function selectBetaHeaders(
  client: IncomingHttpHeaders,
  outline: JsonObject,
  { betaHeaders: patterns = [], readBodyHeaders }: FormatDescriptor,
  { quirks }: Profile,
): Record<string, string> {
  if (patterns.length === 0) return {};
  if (!quirks.betas)
    return quirks.safeguards && requestsBeta(client, safeguardsBeta) ? { 'anthropic-beta': safeguardsBeta } : {};
  const selected = Object.entries({ ...client, ...readBodyHeaders?.(outline) }).filter(
    ([name, value]) => value !== undefined && patterns.some((pattern) => matchesPattern(name, pattern)),
  );
  return Object.fromEntries(selected.map(([name, value]) => [name, String(value)]));
}

function requestsBeta(client: IncomingHttpHeaders, name: string): boolean {
  return String(client['anthropic-beta'] ?? '')
    .split(',')
    .some((beta) => beta.trim().toLowerCase() === name);
}

function matchesPattern(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
