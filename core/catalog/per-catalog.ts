import type { Host } from '../host.ts';
import type { Catalog } from './catalog.ts';

/** Returns what `create` makes of a host, once for each catalog: a reload, which makes another catalog, starts anew. */
export function perCatalog<T extends object>(create: (host: Host) => T): (host: Host) => T {
  const made = new WeakMap<Catalog, T>();
  return (host) => {
    const known = made.get(host.catalog) ?? create(host);
    made.set(host.catalog, known);
    return known;
  };
}
