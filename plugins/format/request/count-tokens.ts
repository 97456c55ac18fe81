import { estimateTokenCount } from 'tokenx';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { promptTokens } from '../canonical/estimate.ts';
import type { ClientRequest } from './client-request.ts';

/**
 * Answers how many tokens a request would take, in the client's format, where no route counts by itself. An estimate:
 * clients decide by it when to shorten a conversation, and vendors count differently anyway.
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

/** Characters of a prompt whose words are counted, which takes a millisecond for each ten thousand. */
const longestSample = 131_072;

/** Counts the words at the beginning of a prompt, and takes the rest of a longer one to have as many. */
function sampledEstimate(): (text: string) => number {
  let [characters, tokens] = [0, 0];
  return (text) => {
    const room = longestSample - characters;
    if (room <= 0) return Math.ceil((text.length * tokens) / characters);
    const sample = text.slice(0, room);
    const counted = estimateTokenCount(sample);
    characters += sample.length;
    tokens += counted;
    return sample.length === text.length ? counted : Math.ceil((text.length * counted) / sample.length);
  };
}
