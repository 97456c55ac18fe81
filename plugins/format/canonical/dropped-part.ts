import type { Fragment } from './reply.ts';

const plainType = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Notes a part of an answer that no reply format has a place for.
 *
 * @param type the upstream's name for it; only a plain one is repeated, because notes travel in a header
 * @param otherwise the name to use instead of any other
 */
export function droppedPart(type: string, otherwise: string): Fragment {
  return { type: 'dropped', what: `${plainType.test(type) ? type : otherwise} in the answer` };
}
