/** Pages that the layout links to when a plugin has registered them. */
export const wellKnownPaths = {
  status: '/status',
  dashboard: '/dashboard',
  connect: '/dashboard/connect',
  account: '/account',
  key: '/account/key',
  operator: '/operator',
} as const;

/**
 * Returns a path of this gateway, such as the `next` of a request. Anything else would let a link lead from this gateway to another site.
 * Browsers encode all but printable ASCII, and a header accepts nothing else.
 *
 * @returns '/' for anything else
 */
export function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?!\/)[!-[\]-~]*$/.test(path) ? path : '/';
}

/** Returns the path of a page's stream: `/dashboard/live`. */
export function livePath(path: string): string {
  return path === '/' ? '/live' : `${path}/live`;
}

/** Returns the path of the page that a stream belongs to. */
export function pagePath(path: string): string {
  return path.replace(/\/live$/, '') || '/';
}
