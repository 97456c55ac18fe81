/** Pages that the layout links to if a plugin has registered them. */
export const wellKnownPaths = {
  status: '/status',
  dashboard: '/dashboard',
  connect: '/dashboard/connect',
  account: '/account',
  key: '/account/key',
  operator: '/operator',
} as const;

/**
 * Validates a path on this gateway, such as `next` in a request, to prevent redirects to other sites. Only printable ASCII is valid:
 * browsers encode all other characters, and headers cannot contain them. Returns '/' for an invalid path.
 */
export function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?!\/)[!-[\]-~]*$/.test(path) ? path : '/';
}

export function livePath(path: string): string {
  return path === '/' ? '/live' : `${path}/live`;
}

/** Returns the path of the page that a live stream belongs to. */
export function pagePath(path: string): string {
  return path.replace(/\/live$/, '') || '/';
}
