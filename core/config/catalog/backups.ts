import type { Model, Upstream } from './catalog.ts';

/**
 * Returns the models whose routes all lead to one host, so that they fail with it. Models of the demo upstream are left out, because they
 * promise no availability.
 */
export function modelsWithoutBackup(models: readonly Model[]): Model[] {
  return models.filter((model) => !hasBackup(model) && model.routes.some(({ upstream }) => !upstream.isDemo));
}

/** Returns true if another upstream in use fails independently of a model's, so that a route there would be its backup. */
export function couldHaveBackup({ routes }: Pick<Model, 'routes'>, upstreams: readonly Upstream[]): boolean {
  const own = new Set(routes.map(({ upstream }) => hostOf(upstream)));
  return upstreams.some((upstream) => upstream.isEnabled && !upstream.isDemo && !own.has(hostOf(upstream)));
}

/** True if a model has routes on two upstreams that fail independently; two keys or formats of one endpoint do not. */
function hasBackup({ routes }: Pick<Model, 'routes'>): boolean {
  return new Set(routes.map(({ upstream }) => hostOf(upstream))).size > 1;
}

function hostOf({ baseUrl, name }: Upstream): string {
  return URL.parse(baseUrl)?.host ?? name;
}
