import type { JsonValue } from '#core/platform/json.ts';

/** OpenAI's service tiers. Clients get no others, because some clients accept only a fixed list. */
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

const requestableTiers: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority']);

export function toRequestableTier(tier: string): string | undefined {
  return requestableTiers.has(tier) ? tier : undefined;
}

const otherTier = new RegExp(`"service_tier"\\s*:\\s*"(?!(?:${[...openaiTiers].join('|')})")`);

/** Returns true if a JSON text contains a tier unknown to OpenAI. Quotes inside strings are escaped, so they do not match. */
export function namesOtherTier(text: string): boolean {
  return otherTier.test(text);
}

/** Removes a tier unknown to OpenAI, such as Groq's `on_demand`, from a reply. Otherwise returns the same object. */
export function removeOtherTier<T extends { readonly service_tier?: JsonValue | undefined }>(reply: T): T {
  const { service_tier: tier } = reply;
  if (typeof tier !== 'string' || openaiTiers.has(tier)) return reply;
  const { service_tier: _, ...others } = reply;
  return others as T;
}
