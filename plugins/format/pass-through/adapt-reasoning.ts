import type { JsonValue } from '#core/json.ts';
import type { Profile } from '#core/catalog/profile.ts';
import { efforts } from '../canonical/conversation.ts';

/** True when the route can be asked for reasoning. */
export function canReason({ capabilities, quirks }: Profile): boolean {
  return capabilities.reasoning && quirks.reasoning !== 'none';
}

/** True for an effort that is not known there, or where efforts are not known at all. */
export function isForeignEffort(effort: JsonValue | undefined, { quirks }: Profile): boolean {
  if (typeof effort !== 'string') return false;
  const isUnknown = !(quirks.efforts as readonly string[]).includes(effort);
  if (quirks.reasoning === 'enable_thinking') return true;
  return isUnknown || (quirks.reasoning === 'thinking' && quirks.efforts.length === efforts.length);
}
