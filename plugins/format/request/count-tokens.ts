import { estimateTokenCount } from 'tokenx';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { promptTokens } from '../canonical/estimate.ts';
import type { ClientRequest } from './client-request.ts';

/**
 * Estimates the tokens of a request and answers in the client's format, if no route can count them. An estimate is enough:
 * clients use it to decide when to shorten a conversation, and vendors count differently anyway.
 */
export function countTokens({ format, body }: ClientRequest): Reply {
  const tokens = promptTokens(body, sampledEstimate());
  const answer = format.client.text?.writeTokenCount(tokens) ?? { input_tokens: tokens };
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(answer),
  };
}

/** Characters of a prompt that are analysed, which takes a millisecond per ten thousand. */
const maxSample = 131_072;

/** Analyses the beginning of a prompt and extrapolates to the rest. */
function sampledEstimate(): (text: string) => number {
  let [characters, tokens] = [0, 0];
  return (text) => {
    const room = maxSample - characters;
    if (room <= 0) return Math.ceil((text.length * tokens) / characters);
    const sample = text.slice(0, room);
    const sampleTokens = estimateTokenCount(sample);
    characters += sample.length;
    tokens += sampleTokens;
    return sample.length === text.length ? sampleTokens : Math.ceil((text.length * sampleTokens) / sample.length);
  };
}
