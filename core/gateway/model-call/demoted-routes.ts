import type { Host } from '../host/host.ts';

/** Ids of routes that requests try after the others of their model, on this instance: they no longer do what they declare. */
export function demotedRoutes(host: Pick<Host, 'keep'>): Set<string> {
  return host.keep('demoted-routes', () => new Set<string>());
}
