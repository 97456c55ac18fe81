import type { Catalog, Model } from './catalog.ts';

interface Dependents {
  /** Models without a route at another upstream. */
  readonly lostModels: readonly Model[];
  /** Models with a route at another upstream. */
  readonly backedModels: readonly Model[];
}

/**
 * Finds the models that lose routes if these upstreams stop.
 *
 * @param upstreams names
 */
export function findDependents({ models }: Pick<Catalog, 'models'>, upstreams: ReadonlySet<string>): Dependents {
  const affectedModels = models.filter(({ routes }) => routes.some(({ upstream }) => upstreams.has(upstream.name)));
  const isLost = ({ routes }: Model) => routes.every(({ upstream }) => upstreams.has(upstream.name));
  return { lostModels: affectedModels.filter(isLost), backedModels: affectedModels.filter((model) => !isLost(model)) };
}
