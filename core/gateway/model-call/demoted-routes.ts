import type { Host } from '../host/host.ts';

/** Returns the ids of routes that this instance tries after the others of their model, because they no longer do what they declare. */
export function demotedRoutes(host: Pick<Host, 'keep'>): Set<string> {
  return host.keep('demoted-routes', () => new Set<string>());
}
