import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Returns why a mail was not sent or keeps failing, as an English sentence that pages translate. */
export const mailReason = defineSentences(en);
