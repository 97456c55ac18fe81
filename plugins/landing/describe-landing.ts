import { currencySection, plansSection } from '#core/accounts/plans.ts';
import { configuredProvider } from '#core/payments/connections.ts';
import type { RouteStatus } from '#core/model-call/route-status.ts';
import type { PageRequest } from '#core/pages/page.ts';
import { describeRoutes } from './routes.ts';
import { addressesOf, samplesFor } from './samples.ts';

/** Units of the tick marks of a plan. */
const tick = { step: 6, width: 3 };

/**
 * Everything that the front page shows, ready to be printed.
 *
 * @param statuses of the routes, for readers who may see them
 */
export function describeLanding(request: PageRequest, statuses: ReadonlyMap<string, RouteStatus> | undefined) {
  const { host, query, t } = request;
  const { catalog, service } = host;
  const model = catalog.models[0]?.publicName ?? `${service.prefix}/MODEL`;
  const { samples, sample } = samplesFor(query['sample'], service.baseUrl, model);
  return {
    isDemo: catalog.upstreams.some(({ isDemo }) => isDemo),
    isForSale: configuredProvider(host) !== undefined,
    plans: describePlans(request),
    addresses: addressesOf(service.baseUrl).map(({ clients, url }) => ({ clients: t(clients), url })),
    samples,
    sample,
    models: catalog.models.map(({ id, publicName, displayName, routes }) => ({
      id: publicName,
      displayName: displayName === id ? '' : displayName,
      backups: request.format.number(routes.length - 1),
    })),
    hasBackups: catalog.models.some(({ routes }) => routes.length > 1),
    routes: statuses === undefined ? undefined : describeRoutes(catalog, statuses, request),
  };
}

function describePlans({ host, t, format }: PageRequest) {
  const currency = host.section(currencySection);
  return host.section(plansSection).map(({ days, price, label = '' }) => ({
    days: format.number(days),
    unit: t('landing.days', { count: days }),
    label,
    path: `/buy?days=${days}`,
    buy: t('landing.buy', { count: days }),
    price: format.money(price, currency),
    perDay: t('landing.per_day', { price: format.money(Math.round(price / days), currency) }),
    ticks: Array.from({ length: Math.min(days, 30) }, (_, index) => index * tick.step),
    ticksWidth: (Math.min(days, 30) - 1) * tick.step + tick.width,
  }));
}
