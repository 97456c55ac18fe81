import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Why a canary ended: the English sentence, which is stored, and which pages recognise. */
export const canaryReason = defineSentences(en);

/** Who has served it to all accounts, or ended it, and why. */
export function canaryReasonBy(what: 'full' | 'ended', operator: string, note?: string): string {
  if (note === undefined) return canaryReason(`canary.reason.${what}`, { operator });
  return canaryReason(`canary.reason.${what}_note`, { operator, note });
}
