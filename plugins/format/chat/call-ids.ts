import { createHash } from 'node:crypto';
import type { EncodeTarget } from '../canonical/codec.ts';
import { nineCharacters } from '../canonical/short-id.ts';

/** Characters that OpenAI takes in the id of a call here; the other endpoint takes more. */
const maxLength = 40;

/** What a call is called on the wire: always the same for the same id, so that histories repeat. */
export function wireId(id: string, { profile }: Pick<EncodeTarget, 'profile'>): string {
  if (profile.quirks.tool_call_ids === 'nine_characters') return nineCharacters(id);
  return id.length <= maxLength ? id : createHash('sha256').update(id).digest('hex').slice(0, maxLength);
}
