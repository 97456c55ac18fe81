import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Returns the reason for waiting or lost records as an English sentence, which pages recognise and translate. */
export const logReason = defineSentences(en);
