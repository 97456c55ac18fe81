import { estimateTokenCount } from 'tokenx';
import type { Reply } from '#core/pipeline/reply.ts';
import { promptTokens } from '../canonical/estimate.ts';
import type { ClientRequest } from './client-request.ts';

/**
 * Answers how many tokens a request would take, in the client's format, where no route counts by itself. An estimate:
 * clients decide by it when to shorten a conversation, and vendors count differently anyway.
 */
export function countTokens({ format, body }: ClientRequest): Reply {
  const tokens = promptTokens(body, estimateTokenCount);
  const answer = format.client.text?.writeTokenCount(tokens) ?? { input_tokens: tokens };
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(answer),
  };
}
