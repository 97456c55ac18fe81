import type { JsonObject } from '#core/json.ts';
import type { EncodeTarget } from './codec.ts';
import type { Conversation } from './conversation.ts';
import { shortenId } from './short-id.ts';

/** The end user in OpenAI's formats. Only OpenAI has two names for it; others may refuse the newer one. */
export function writeEndUser({ user, safetyId }: Conversation, { profile, notes }: EncodeTarget): JsonObject {
  if (safetyId === undefined) return { user: user && shortenId(user) };
  const safety_identifier = shortenId(safetyId);
  if (profile.quirks.betas) return { user: user && shortenId(user), safety_identifier };
  notes.approximate('safety_identifier as user');
  if (user !== undefined) notes.drop('user');
  return { user: safety_identifier };
}
