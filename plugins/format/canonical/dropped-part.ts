import type { Fragment } from './reply.ts';

const plainType = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Tells that a piece of an answer has no place in any reply of ours.
 *
 * @param type the upstream's own word for it; only a plain one is repeated, since notes travel in a header
 * @param otherwise what it is called when that word is none
 */
export function droppedPart(type: string, otherwise: string): Fragment {
  return { type: 'dropped', what: `${plainType.test(type) ? type : otherwise} in the answer` };
}
