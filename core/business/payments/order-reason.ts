import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Texts about orders in pages and mails. */
export const orderTexts = { en, id };

/** Why money went back or a flag was closed, where no operator has said so: the sentence on record, which pages recognise. */
export const orderReason = defineSentences(en);
