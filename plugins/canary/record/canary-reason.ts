import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Pages recognize the stored English sentence and translate it. */
export const canaryReason = defineSentences(en);

export function writeOperatorReason(outcome: 'full' | 'ended', operator: string, note?: string): string {
  if (note === undefined) return canaryReason(`canary.reason.${outcome}`, { operator });
  return canaryReason(`canary.reason.${outcome}_note`, { operator, note });
}
