import type { Catalog, Route } from '#core/catalog/catalog.ts';
import type { RouteStatus } from '#core/model-call/route-status.ts';

/** A route as the front page shows it, ready to be printed. */
export interface RouteLine {
  readonly id: string;
  readonly state: string;
  readonly isLeftOut: boolean;
  readonly reason: string;
  /** When it is tried again, for machines and for people; empty when it is in service. */
  readonly until: { readonly time: string; readonly text: string } | undefined;
}

const stateWords: Readonly<Record<RouteStatus['state'], string>> = {
  closed: 'in service',
  half_open: 'left out; the next request tries it',
  open: 'left out',
  no_model: 'does not have the model; tried last',
};

/** Every model with its routes, in the order of gateway.yaml, and how each stands. */
export function describeRoutes({ models }: Catalog, statuses: ReadonlyMap<string, RouteStatus>) {
  return models.map(({ id, routes }) => ({
    id,
    routes: routes.map((route) => describe(route, statuses.get(route.id))),
  }));
}

function describe({ id }: Route, status: RouteStatus | undefined): RouteLine {
  const state = status?.state ?? 'closed';
  const until = state === 'open' || state === 'no_model' ? (status?.open_until ?? undefined) : undefined;
  return {
    id,
    state: stateWords[state],
    isLeftOut: state !== 'closed',
    reason: status?.reason ?? '',
    until: until === undefined ? undefined : { time: until, text: `${until.slice(0, 19).replace('T', ' ')} UTC` },
  };
}
