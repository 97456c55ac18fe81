import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

export const orderTexts = { en, id };

/** Returns the sentence recorded as the reason for a refund, a resolved flag or a skipped email. Pages recognize and translate it. */
export const orderReason = defineSentences(en);
