import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Texts about orders in pages and mails. */
export const orderTexts = { en, id };

/** Reason for a refund or a closed flag without an operator's note: the recorded sentence, which pages recognise. */
export const orderReason = defineSentences(en);
