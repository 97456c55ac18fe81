import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Why records wait or are lost: the English sentence, which pages recognise. */
export const logReason = defineSentences(en);
