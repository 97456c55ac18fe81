import { isJsonObject, type JsonValue } from '#core/json.ts';
import { withMember } from '../pass-through/adapt-members.ts';
import type { Adaptation } from '../pass-through/adaptation.ts';

/** True for the block of the prompt in which Claude Code says who pays. It differs per request. */
export function isBillingHeader(text: string): boolean {
  return text.startsWith('x-anthropic-billing-header');
}

/** Leaves Claude Code's billing header out where another vendor is behind the route: its prompt cache would never hit. */
export const adaptBillingHeader: Adaptation = (body, { profile }) => {
  const { system } = body;
  if (profile.quirks.betas || !Array.isArray(system)) return body;
  const others = system.filter((block) => !isBilling(block));
  if (others.length === system.length) return body;
  return withMember(body, 'system', others.length === 0 ? undefined : others);
};

function isBilling(block: JsonValue): boolean {
  const text = isJsonObject(block) ? block['text'] : undefined;
  return typeof text === 'string' && isBillingHeader(text);
}
