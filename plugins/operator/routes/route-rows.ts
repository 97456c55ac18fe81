import type { Model } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { canReset, type RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { describeBreaker } from '#core/web/pages/breaker-state.ts';
import { describeFaultText } from '#core/web/pages/fault-text.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { severityOf } from '#core/business/model-health/model-health.ts';
import type { OverviewSources } from '../sources.ts';
import type { RouteTraffic, ServedModel } from '../route-traffic.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

/** A route of one model, ready to be printed; '' for unknown values. */
export type RouteRow = ReturnType<typeof describeRoutes>[number];

/** Shares of failed attempts from which a route is in trouble, and in serious trouble. */
const notable = 0.01;
const alarming = 0.1;

/**
 * Describes the routes of the models in the worst trouble first, then of the others in the order of gateway.yaml. A model's routes are
 * never split.
 *
 * @param least minimum number of rows, if there are that many
 * @param costOf cost of a route for a model
 * @param isTroubled true to list only routes in trouble, or all routes of a model in trouble if none of its routes shows the cause
 */
export function describeRoutes(
  { catalog }: Pick<Host, 'catalog'>,
  { models: health, statuses, recent: { routes } }: OverviewSources,
  reader: Reader,
  least: number,
  isTroubled = false,
  costOf: (model: string, route: string) => string = () => '',
) {
  const states = new Map(health.map(({ id, state }) => [id, state]));
  const troubleOf = (model: Model) => [
    severityOf(states.get(model.publicName) ?? 'working'),
    Math.min(...model.routes.map(({ id }) => rankOf(statuses.get(id), routes.get(id)))),
  ];
  const models = isTroubled
    ? catalog.models.filter((model) => compare(troubleOf(model), noTrouble) < 0)
    : catalog.models;
  const shared = sharedRoutes(catalog.models);
  return mostUrgent(models, least, troubleOf).flatMap((model) => {
    const inTrouble = model.routes.filter(({ id }) => rankOf(statuses.get(id), routes.get(id)) < ranks.closed);
    const shown = isTroubled && inTrouble.length > 0 ? inTrouble : model.routes;
    return shown.map(({ id }, index) => ({
      // Printed once for all routes of the model.
      model: index === 0 ? model.publicName : '',
      modelName: model.publicName,
      cost: costOf(model.publicName, id),
      ...describeRoute(id, statuses.get(id), routes.get(id), model.publicName, shared.has(id), reader),
    }));
  });
}

/** Ids of routes that serve several models, whose attempts include all of these models. */
function sharedRoutes(models: readonly Model[]): ReadonlySet<string> {
  const ids = models.flatMap(({ routes }) => [...new Set(routes.map(({ id }) => id))]);
  const seen = new Set<string>();
  return new Set(ids.filter((id) => seen.has(id) || !seen.add(id)));
}

/** Number of rows for all models. */
export function countRoutes({ catalog }: Pick<Host, 'catalog'>): number {
  return catalog.models.reduce((sum, { routes }) => sum + routes.length, 0);
}

/** @param troubleOf sort keys of a model, most important first; a smaller value is worse */
function mostUrgent(models: readonly Model[], least: number, troubleOf: (model: Model) => number[]): Model[] {
  const ranked = models.map((model) => ({ model, rank: troubleOf(model) }));
  const chosen: Model[] = [];
  let count = 0;
  for (const { model } of ranked.toSorted((one, other) => compare(one.rank, other.rank))) {
    if (count >= least) break;
    chosen.push(model);
    count += model.routes.length;
  }
  return chosen;
}

/** @returns a negative number if the first is worse */
function compare(one: readonly number[], other: readonly number[]): number {
  return one.map((rank, index) => rank - (other[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

function failedShare(traffic: RouteTraffic | undefined): number | undefined {
  const tried = (traffic?.served ?? 0) + (traffic?.failed ?? 0);
  return tried === 0 ? undefined : (traffic?.failed ?? 0) / tried;
}

const ranks: Readonly<Record<RouteStatus['state'], number>> = { open: 0, no_model: 0, half_open: 1, closed: 5 };

/** Rank of a model whose routes are all healthy. */
const noTrouble = [severityOf('working'), ranks.closed];

/** Rank of a route's trouble, from 0 for an open breaker to 5 for no trouble. */
function rankOf(status: RouteStatus | undefined, traffic: RouteTraffic | undefined): number {
  const share = failedShare(traffic) ?? 0;
  const ofTraffic = share >= alarming ? 3 : share >= notable ? 4 : 5;
  const ofKeys = (status?.keys_cooling_down ?? 0) > 0 ? 2 : 5;
  return Math.min(ranks[status?.state ?? 'closed'], ofKeys, ofTraffic);
}

function describeRoute(
  route: string,
  status: RouteStatus | undefined,
  traffic: RouteTraffic | undefined,
  model: string,
  isShared: boolean,
  reader: Reader,
) {
  const { t, format } = reader;
  const share = failedShare(traffic);
  const served = traffic?.models.get(model);
  const cooling = status?.keys_cooling_down ?? 0;
  return {
    route,
    status: describeBreaker(status, reader),
    keys: describeKeys(cooling, status?.keys_closed ?? 0, t),
    requests: traffic === undefined ? '' : format.number(traffic.attempts),
    // Requests for this model, if the route's attempts include several models.
    requestsOf:
      traffic !== undefined && isShared
        ? t('operator.served_of_model', { served: format.number(served?.requests ?? 0) })
        : '',
    failed: share === undefined ? '' : format.percent(share),
    firstToken: served?.firstTokenMs === undefined ? '' : format.duration(served.firstTokenMs).text,
    ...describeCache(served?.cache, reader),
    ...describeFault(traffic, reader),
    canReset: canReset(status),
    resetPath: `/operator/routes/reset?route=${encodeURIComponent(route)}`,
  };
}

/** The number of cooling keys includes closed keys. */
function describeKeys(cooling: number, closed: number, t: Reader['t']): string {
  return [
    ...(closed > 0 ? [t('operator.keys_closed', { count: closed })] : []),
    ...(cooling > closed ? [t('operator.keys_cooling', { count: cooling - closed })] : []),
  ].join(', ');
}

function describeCache(cache: ServedModel['cache'], { t, format }: Reader) {
  if (cache === undefined) return { fromCache: '', toCache: '' };
  const written = cache.written === 0 ? '' : t('operator.written_to_cache', { share: format.percent(cache.written) });
  return { fromCache: format.percent(cache.read), toCache: written };
}

function describeFault(traffic: RouteTraffic | undefined, { t, format }: Reader) {
  const last = traffic?.lastFault;
  if (last === undefined) return { fault: '', faultAt: '' };
  const text = describeFaultText(last.error ?? last.fault, t); // the time follows
  return { fault: text, faultAt: format.shortTime(new Date(last.at)).text };
}
