import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { dashboardSection, type RouteVisibility } from './section.ts';

/** Names routes for one reader, by `dashboard.routes` of gateway.yaml. */
export interface RouteNames {
  /** False if the reader may not tell routes apart; the page then has neither column nor label. */
  readonly areShown: boolean;
  /** True if the reader may know what routes are, with the models of their vendors. */
  readonly areNamed: boolean;
  /** True if the reader may see upstreams' messages, which name vendors and accounts of the operator. */
  readonly areVendorsShown: boolean;
  /**
   * The label of a route; '' when it is hidden.
   *
   * @param route `upstream/model`, as recorded
   * @param model the name that the client used
   */
  label(route: string, model: string | null): string;
}

/** Operators always see names: they know their routes, and look for faults. */
export function routeNamesFor({ host, isOperator, t }: Pick<PageRequest, 'host' | 'isOperator' | 't'>): RouteNames {
  const visibility = isOperator ? 'names' : host.section(dashboardSection).routes;
  return createRouteNames(visibility, host.catalog, t, isOperator);
}

export function createRouteNames(
  visibility: RouteVisibility,
  catalog: Pick<Catalog, 'resolve'>,
  t: PageRequest['t'],
  areVendorsShown = false,
): RouteNames {
  return {
    areShown: visibility !== 'hidden',
    areNamed: visibility === 'names',
    areVendorsShown,
    label(route, model) {
      if (visibility === 'names') return route;
      if (visibility === 'hidden') return '';
      const place = placeOf(route, model, catalog);
      return place === undefined ? t('requests.route.former') : t('requests.route.number', { number: place });
    },
  };
}

/** From 1, in the list of the model; undefined for a route that gateway.yaml no longer has. */
export function placeOf(route: string, model: string | null, catalog: Pick<Catalog, 'resolve'>): number | undefined {
  const routes = model === null ? undefined : catalog.resolve(model)?.routes;
  const index = routes?.findIndex(({ id }) => id === route) ?? -1;
  return index === -1 ? undefined : index + 1;
}
