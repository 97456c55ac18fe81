import type { Model, Upstream } from './catalog.ts';

/**
 * Finds the models that fail with a single host, because all of their routes lead to it. Models of the demo upstream are omitted, because
 * they need no availability.
 */
export function findModelsWithoutBackup(models: readonly Model[]): Model[] {
  return models.filter((model) => !hasBackup(model) && model.routes.some(({ upstream }) => !upstream.isDemo));
}

/** Returns true if an enabled upstream could be a backup of the model, because it has a different host. */
export function canHaveBackup({ routes }: Pick<Model, 'routes'>, upstreams: readonly Upstream[]): boolean {
  const hosts = new Set(routes.map(({ upstream }) => readHost(upstream)));
  return upstreams.some((upstream) => upstream.isEnabled && !upstream.isDemo && !hosts.has(readHost(upstream)));
}

/** Returns true if a model has routes on several hosts. Several keys or formats of one endpoint fail together. */
function hasBackup({ routes }: Pick<Model, 'routes'>): boolean {
  return new Set(routes.map(({ upstream }) => readHost(upstream))).size > 1;
}

function readHost({ baseUrl, name }: Upstream): string {
  return URL.parse(baseUrl)?.host ?? name;
}
