import { createHash } from 'node:crypto';

/** OpenAI's limit on this endpoint, in characters; the Responses endpoint accepts more. */
const maxLength = 40;

/** The id of a call on the wire: the same for the same id, so that prompt caches hit. */
export function wireId(id: string): string {
  return id.length <= maxLength ? id : createHash('sha256').update(id).digest('hex').slice(0, maxLength);
}
