import { estimateTokenCount } from 'tokenx';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { estimatePromptTokens } from '../canonical/estimate.ts';
import type { ClientRequest } from './client-request.ts';

/**
 * Responds in the client's format with an estimate of a request's tokens, for models none of whose routes can count. An estimate is enough:
 * clients use it to decide when to shorten a conversation, and vendors count differently anyway.
 */
export function respondWithTokenEstimate({ format, body }: ClientRequest): Reply {
  const tokens = estimatePromptTokens(body, createSampledEstimate());
  const count = format.client.text?.writeTokenCount(tokens) ?? { input_tokens: tokens };
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(count),
  };
}

const maxSampleLength = 131_072; // characters; analyzing ten thousand takes a millisecond

function createSampledEstimate(): (text: string) => number {
  let [characters, tokens] = [0, 0];
  return (text) => {
    const remainingLength = maxSampleLength - characters;
    if (remainingLength <= 0) return Math.ceil((text.length * tokens) / characters);
    const sample = text.slice(0, remainingLength);
    const sampleTokens = estimateTokenCount(sample);
    characters += sample.length;
    tokens += sampleTokens;
    return sample.length === text.length ? sampleTokens : Math.ceil((text.length * sampleTokens) / sample.length);
  };
}
