import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Returns the reason for an unsent or failing mail as an English sentence, which pages translate. */
export const mailReason = defineSentences(en);
