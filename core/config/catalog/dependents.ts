import type { Catalog, Model } from './catalog.ts';

interface Dependents {
  readonly lostModels: readonly Model[]; // models without a route to another upstream
  readonly backedModels: readonly Model[]; // models with a route to another upstream
}

export function findDependents({ models }: Pick<Catalog, 'models'>, upstreamNames: ReadonlySet<string>): Dependents {
  const affectedModels = models.filter(({ routes }) => routes.some(({ upstream }) => upstreamNames.has(upstream.name)));
  const isLost = ({ routes }: Model) => routes.every(({ upstream }) => upstreamNames.has(upstream.name));
  return { lostModels: affectedModels.filter(isLost), backedModels: affectedModels.filter((model) => !isLost(model)) };
}
