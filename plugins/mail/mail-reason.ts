import { defineSentences } from '#core/platform/sentences.ts';
import en from './pages/texts/en.json' with { type: 'json' };

/** Why a mail was not sent, or why mail is not healthy: the English sentence, which pages recognise. */
export const mailReason = defineSentences(en);
