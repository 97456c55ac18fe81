/**
 * A path of this gateway, such as a `next` that came with a request. Anything else would let a link lead from this gateway
 * to another site.
 *
 * @returns '/' for anything else
 */
export function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])[^\s\\]*$/.test(path) ? path : '/';
}
