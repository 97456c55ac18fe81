/** Pages that the layout links to when a plugin has registered them. */
export const wellKnownPaths = {
  status: '/status',
  dashboard: '/dashboard',
  connect: '/dashboard/connect',
  account: '/account',
  operator: '/operator',
} as const;
