import type { Host } from '../host/host.ts';

/** Returns the ids of routes that this instance tries last, because they no longer support what they declare. */
export function getDemotedRoutes(host: Pick<Host, 'keep'>): Set<string> {
  return host.keep('demoted-routes', () => new Set<string>());
}
