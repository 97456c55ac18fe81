import { formatMoney } from '#core/accounts/money.ts';
import { currencySection, plansSection } from '#core/accounts/plans.ts';
import type { Model } from '#core/catalog/catalog.ts';
import type { Host } from '#core/host.ts';
import type { RouteStatus } from '#core/model-call/route-status.ts';
import { describeRoutes } from './routes.ts';

/**
 * Everything that the front page shows, ready to be printed.
 *
 * @param statuses of the routes, for whoever may see them; left out for everybody else
 */
export function describeHome(host: Host, statuses?: ReadonlyMap<string, RouteStatus>) {
  const { catalog, service } = host;
  const currency = host.section(currencySection);
  return {
    name: service.name,
    baseUrl: service.baseUrl,
    contact: service.contact ?? '',
    isDemo: catalog.upstreams.some(({ isDemo }) => isDemo),
    models: catalog.models.map((model) => ({ id: model.id, note: describeModel(model) })),
    routes: statuses === undefined ? undefined : describeRoutes(catalog, statuses),
    plans: host
      .section(plansSection)
      .map(({ days, price, label }) => ({ days, price: formatMoney(price, currency), label: label ?? '' })),
  };
}

function describeModel({ id, displayName, routes }: Model): string {
  const backups = routes.length - 1;
  const safety = backups === 0 ? '' : `with ${backups} backup ${backups === 1 ? 'route' : 'routes'}`;
  return [displayName === id ? '' : displayName, safety].filter((part) => part !== '').join(', ');
}
