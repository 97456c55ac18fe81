import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Writes in English why a canary ended. Pages recognize the stored sentence and translate it. */
export const canaryReason = defineSentences(en);

/** Writes the reason for a canary that an operator promoted or ended. */
export function writeOperatorReason(outcome: 'full' | 'ended', operator: string, note?: string): string {
  if (note === undefined) return canaryReason(`canary.reason.${outcome}`, { operator });
  return canaryReason(`canary.reason.${outcome}_note`, { operator, note });
}
