import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Reason for a failing health check of core: the English sentence, which pages recognise. */
export const healthReason = defineSentences(en);
