import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Returns why records wait or were lost, as an English sentence that pages recognize and translate. */
export const logReason = defineSentences(en);
