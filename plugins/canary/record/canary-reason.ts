import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Reason for a canary's end: the English sentence, which is stored, and which pages recognise. */
export const canaryReason = defineSentences(en);

/** Returns the operator and reason of a canary's promotion or end. */
export function canaryReasonBy(what: 'full' | 'ended', operator: string, note?: string): string {
  if (note === undefined) return canaryReason(`canary.reason.${what}`, { operator });
  return canaryReason(`canary.reason.${what}_note`, { operator, note });
}
