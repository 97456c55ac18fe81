/**
 * A path of this gateway, such as a `next` that came with a request. Anything else would let a link lead from this gateway
 * to another site. Browsers encode all but printable ASCII, and a header accepts nothing else.
 *
 * @returns '/' for anything else
 */
export function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?!\/)[!-[\]-~]*$/.test(path) ? path : '/';
}
