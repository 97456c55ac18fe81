import { defineSentences } from '#core/platform/sentences.ts';
import en from './pages/texts/en.json' with { type: 'json' };

/** Reason for an unsent mail or unhealthy mail: the English sentence, which pages translate. */
export const mailReason = defineSentences(en);
