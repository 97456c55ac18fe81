import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { dashboardSection, type RouteVisibility } from './section.ts';

/** How one reader sees routes, according to `dashboard.routes` in gateway.yaml. */
export interface RouteNames {
  readonly areShown: boolean; // if false, pages have no column and no labels for routes
  readonly areNamed: boolean; // labels are the routes' names, which contain the vendors' models
  readonly areUpstreamMessagesShown: boolean; // such messages name the operator's vendors and accounts
  /**
   * Returns the label of a route; '' if it is hidden.
   *
   * @param route `upstream/model`, as recorded
   * @param model name used by the client
   */
  label(route: string, model: string | null): string;
}

/** Operators always see names, because they need them to find faults. */
export function createRouteNames({ host, isOperator, t }: Pick<PageRequest, 'host' | 'isOperator' | 't'>): RouteNames {
  const visibility = isOperator ? 'names' : host.section(dashboardSection).routes;
  return createLabelsByVisibility(visibility, host.catalog, t, isOperator);
}

export function createLabelsByVisibility(
  visibility: RouteVisibility,
  catalog: Pick<Catalog, 'resolve'>,
  t: PageRequest['t'],
  areUpstreamMessagesShown = false,
): RouteNames {
  return {
    areShown: visibility !== 'hidden',
    areNamed: visibility === 'names',
    areUpstreamMessagesShown,
    label(route, model) {
      if (visibility === 'names') return route;
      if (visibility === 'hidden') return '';
      const position = findRoutePosition(route, model, catalog);
      return position === undefined ? t('requests.route.former') : t('requests.route.number', { number: position });
    },
  };
}

/** Returns the position in the model's list of routes, from 1; undefined for a route no longer in gateway.yaml. */
export function findRoutePosition(
  route: string,
  model: string | null,
  catalog: Pick<Catalog, 'resolve'>,
): number | undefined {
  const routes = model === null ? undefined : catalog.resolve(model)?.routes;
  const index = routes?.findIndex(({ id }) => id === route) ?? -1;
  return index === -1 ? undefined : index + 1;
}
