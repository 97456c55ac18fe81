import type { Host } from './host.ts';
import type { Catalog } from '#core/config/catalog/catalog.ts';

/** Memoizes `create` per catalog: a reload creates a new catalog, and the value is created again. */
export function perCatalog<T extends object>(create: (host: Host) => T): (host: Host) => T {
  const made = new WeakMap<Catalog, T>();
  return (host) => {
    const known = made.get(host.catalog) ?? create(host);
    made.set(host.catalog, known);
    return known;
  };
}
