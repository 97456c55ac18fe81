import { createHash } from 'node:crypto';

/** OpenAI's limit for ids of calls, users and caches, in characters. */
const maxIdLength = 64;

/** The id, or its hash when it is too long. */
export function shortenId(id: string): string {
  return id.length <= maxIdLength ? id : hash(id);
}

/** The id of a call for vendors that accept only nine letters or digits. */
export function nineCharacters(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hash(id).slice(0, 9);
}

function hash(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
