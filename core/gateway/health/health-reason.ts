import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Creates the English reason for a failing health check of core. Pages recognize the sentence and translate it. */
export const healthReason = defineSentences(en);
