import type { Catalog, Model } from './catalog.ts';

interface Dependents {
  /** Models that have no route to another upstream. */
  readonly lostModels: readonly Model[];
  /** Models that have a route to another upstream. */
  readonly backedModels: readonly Model[];
}

/**
 * Finds the models that lose routes if these upstreams stop.
 *
 * @param upstreams upstream names
 */
export function findDependents({ models }: Pick<Catalog, 'models'>, upstreams: ReadonlySet<string>): Dependents {
  const affectedModels = models.filter(({ routes }) => routes.some(({ upstream }) => upstreams.has(upstream.name)));
  const isLost = ({ routes }: Model) => routes.every(({ upstream }) => upstreams.has(upstream.name));
  return { lostModels: affectedModels.filter(isLost), backedModels: affectedModels.filter((model) => !isLost(model)) };
}
