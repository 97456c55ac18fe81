import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Pages recognize the stored English sentence and translate it. */
export const mailReason = defineSentences(en);
