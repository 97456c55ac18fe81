import { createHash } from 'node:crypto';

/** Characters that OpenAI takes in ids of calls, of users and of caches. */
const maxIdLength = 64;

/** Keeps an id that is short enough; a longer one becomes a hash, always the same. */
export function shortenId(id: string): string {
  return id.length <= maxIdLength ? id : hash(id);
}

/** What an id of a call becomes where only nine letters or digits are taken. */
export function nineCharacters(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hash(id).slice(0, 9);
}

function hash(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
