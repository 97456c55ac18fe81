import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Reason for waiting or lost records: the English sentence, which pages recognise. */
export const logReason = defineSentences(en);
