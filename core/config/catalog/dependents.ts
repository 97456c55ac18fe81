import type { Catalog, Model } from './catalog.ts';

/** Models that depend on some upstreams. */
interface Dependents {
  /** Models without a route at another upstream. */
  readonly lost: readonly Model[];
  /** Models with a route at another upstream. */
  readonly backed: readonly Model[];
}

/** Returns the models that lose routes when these upstreams, by name, stop. */
export function dependentsOf({ models }: Pick<Catalog, 'models'>, upstreams: ReadonlySet<string>): Dependents {
  const served = models.filter(({ routes }) => routes.some(({ upstream }) => upstreams.has(upstream.name)));
  const isLost = ({ routes }: Model) => routes.every(({ upstream }) => upstreams.has(upstream.name));
  return { lost: served.filter(isLost), backed: served.filter((model) => !isLost(model)) };
}
