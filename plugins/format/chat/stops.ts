import type { JsonObject } from '#core/json.ts';
import { textsOf } from '../request/members.ts';

/** The stop sequences of a request. */
export function reportedStops({ stop }: JsonObject): readonly string[] {
  return textsOf(stop);
}

/** True when a request asks for a single answer, which can be decoded and encoded again. */
export function isSingleAnswer({ n }: JsonObject): boolean {
  return typeof n !== 'number' || n <= 1;
}
