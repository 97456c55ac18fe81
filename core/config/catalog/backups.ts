import type { Model, Upstream } from './catalog.ts';

/**
 * Finds the models that fail if a single host fails, because all of their routes lead to it. Omits models of the demo upstream, which do
 * not have to be available.
 */
export function findModelsWithoutBackup(models: readonly Model[]): Model[] {
  return models.filter((model) => !hasBackup(model) && model.routes.some(({ upstream }) => !upstream.isDemo));
}

/** Returns true if an enabled upstream has a different host, so that it could back up the model. */
export function canHaveBackup({ routes }: Pick<Model, 'routes'>, upstreams: readonly Upstream[]): boolean {
  const hosts = new Set(routes.map(({ upstream }) => readHost(upstream)));
  return upstreams.some((upstream) => upstream.isEnabled && !upstream.isDemo && !hosts.has(readHost(upstream)));
}

function hasBackup({ routes }: Pick<Model, 'routes'>): boolean {
  // Several keys or formats at one endpoint would fail together.
  return new Set(routes.map(({ upstream }) => readHost(upstream))).size > 1;
}

function readHost({ baseUrl, name }: Upstream): string {
  return URL.parse(baseUrl)?.host ?? name;
}
