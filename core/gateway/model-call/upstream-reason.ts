import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Reason for a failed attempt at an upstream: the English sentence, for clients, records and the log. Pages recognise it. */
export const upstreamReason = defineSentences(en);
