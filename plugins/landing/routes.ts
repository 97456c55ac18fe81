import type { Catalog, Route } from '#core/catalog/catalog.ts';
import type { RouteStatus } from '#core/model-call/route-status.ts';
import type { FormattedTime } from '#core/pages/formatter.ts';
import type { PageRequest } from '#core/pages/page.ts';

/** A route as the front page shows it, ready to be printed. */
export interface RouteLine {
  readonly id: string;
  readonly state: string;
  readonly isUnavailable: boolean;
  readonly reason: string;
  /** When it is tried again; undefined when that is not known, or it is available. */
  readonly until: FormattedTime | undefined;
}

/** Every model with its routes, in the order of gateway.yaml, and the state of each. */
export function describeRoutes(
  { models }: Catalog,
  statuses: ReadonlyMap<string, RouteStatus>,
  request: Pick<PageRequest, 't' | 'format'>,
) {
  return models.map(({ publicName, routes }) => ({
    id: publicName,
    routes: routes.map((route) => describeRoute(route, statuses.get(route.id), request)),
  }));
}

function describeRoute(
  { id }: Route,
  status: RouteStatus | undefined,
  { t, format }: Pick<PageRequest, 't' | 'format'>,
): RouteLine {
  const state = status?.state ?? 'closed';
  const hasEnd = state === 'open' || state === 'no_model';
  const until = hasEnd && status?.open_until ? format.time(new Date(status.open_until)) : undefined;
  return {
    id,
    state: t(`landing.route.${state}`),
    isUnavailable: state !== 'closed',
    reason: status?.reason ?? '',
    until: until && { ...until, text: t('landing.route.until', { time: until.text }) },
  };
}
