import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Pages translate the English sentence. */
export const mailReason = defineSentences(en);
