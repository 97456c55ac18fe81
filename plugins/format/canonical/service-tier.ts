import type { JsonValue } from '#core/platform/json.ts';

/** OpenAI's tiers. Clients read no others: some of their decoders have a closed list. */
export const openaiTiers: ReadonlySet<JsonValue | undefined> = new Set([
  'auto',
  'default',
  'flex',
  'scale',
  'priority',
  'fast',
  'ultrafast',
  'batch',
]);

const requestable: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority']);

/** The tier if a request to OpenAI may name it. */
export function requestedTier(tier: string): string | undefined {
  return requestable.has(tier) ? tier : undefined;
}

const other = new RegExp(`"service_tier"\\s*:\\s*"(?!(?:${[...openaiTiers].join('|')})")`);

/** True for a text that names a tier which OpenAI does not know. Quotes inside strings are escaped and do not match. */
export function namesOtherTier(text: string): boolean {
  return other.test(text);
}

/** A reply of one of OpenAI's formats without a tier that OpenAI does not know, such as Groq's `on_demand`; else the same object. */
export function withoutOtherTier<T extends { readonly service_tier?: JsonValue | undefined }>(reply: T): T {
  const { service_tier: tier } = reply;
  if (typeof tier !== 'string' || openaiTiers.has(tier)) return reply;
  const { service_tier: _, ...others } = reply;
  return others as T;
}
