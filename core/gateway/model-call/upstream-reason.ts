import { defineSentences } from '#core/platform/sentences.ts';
import en from './texts/en.json' with { type: 'json' };

/** Creates the English sentence about a failed attempt at an upstream, for clients, records and the log. Pages can translate it. */
export const upstreamReason = defineSentences(en);
