import { hash } from 'node:crypto';
import type { JsonValue } from '#core/json.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { storedVersion } from './stored-reply.ts';

/** Headers that change what a body means, and so the answer. */
const dialectHeaders = ['anthropic-version', 'anthropic-beta', 'openai-beta'];

/** What makes two requests the same: who asks, where, in which format and version of it, and what the body means. */
export function cacheKey({ endpoint, format, headers }: Exchange, accountId: string, body: JsonValue): string {
  const versions = dialectHeaders.map((name) => headers[name] ?? null);
  const head = JSON.stringify([storedVersion, accountId, endpoint.path, format, versions]);
  return hash('sha256', head + canonicalJson(body));
}

/** JSON in which neither the order of keys nor spacing makes a difference. The order of lists does: it has a meaning. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`);
  return `{${members.join(',')}}`;
}
