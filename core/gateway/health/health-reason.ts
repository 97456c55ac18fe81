import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Why a health check of core fails: the English sentence, which pages recognise. */
export const healthReason = defineSentences(en);
