import { createHash } from 'node:crypto';

/** Characters that OpenAI takes in the id of a call here; the other endpoint takes more. */
const maxLength = 40;

/** What a call is called on the wire: always the same for the same id, so that histories repeat. */
export function wireId(id: string): string {
  return id.length <= maxLength ? id : createHash('sha256').update(id).digest('hex').slice(0, maxLength);
}
