import type { JsonValue } from '#core/json.ts';
import type { Traits } from '#core/catalog/traits.ts';
import { efforts } from '../canonical/conversation.ts';

/** True when the route can be asked for reasoning. */
export function canReason({ capabilities, parameters }: Traits): boolean {
  return capabilities.reasoning && parameters.reasoning !== 'none';
}

/** True for an effort that is not known there, or where efforts are not known at all. */
export function isForeignEffort(effort: JsonValue | undefined, { parameters }: Traits): boolean {
  if (typeof effort !== 'string') return false;
  const isUnknown = !(parameters.efforts as readonly string[]).includes(effort);
  if (parameters.reasoning === 'enable_thinking') return true;
  return isUnknown || (parameters.reasoning === 'thinking' && parameters.efforts.length === efforts.length);
}
