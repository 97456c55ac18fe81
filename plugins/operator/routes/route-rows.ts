import { severityOf } from '#core/business/model-health/model-health.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { canReset, type RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { describeBreaker } from '#core/web/pages/breaker-state.ts';
import { describeFaultText } from '#core/web/pages/fault-text.ts';
import type { PageReader } from '#core/web/pages/page.ts';
import type { RouteTraffic, ServedModel } from '../route-traffic.ts';
import type { OverviewSources } from '../sources.ts';

const troubledFailedShare = 0.01;
const seriousFailedShare = 0.1;

const ranks: Readonly<Record<RouteStatus['state'], number>> = { open: 0, no_model: 0, half_open: 1, closed: 5 };
const healthyRank = [severityOf('working'), ranks.closed];

interface RouteListOptions {
  readonly minRows: number;
  /** Lists only routes in trouble. If a model is in trouble but none of its routes shows why, all of them are listed. */
  readonly isTroubleOnly?: boolean;
  readonly costOf?: (model: string, route: string) => string;
}

/** Models in the worst trouble come first, the others in the order of gateway.yaml. A model's routes are never split up. */
export function describeRoutes(
  { catalog }: Pick<Host, 'catalog'>,
  { models: health, statuses, recent: { routes } }: OverviewSources,
  reader: PageReader,
  { minRows, isTroubleOnly = false, costOf = () => '' }: RouteListOptions,
) {
  const states = new Map(health.map(({ id, state }) => [id, state]));
  const rankModel = (model: Model) => [
    severityOf(states.get(model.publicName) ?? 'working'),
    Math.min(...model.routes.map(({ id }) => rankRoute(statuses.get(id), routes.get(id)))),
  ];
  const models = isTroubleOnly
    ? catalog.models.filter((model) => compareRanks(rankModel(model), healthyRank) < 0)
    : catalog.models;
  const sharedRoutes = findSharedRoutes(catalog.models);
  return pickWorstModels(models, minRows, rankModel).flatMap((model) => {
    const troubledRoutes = model.routes.filter(({ id }) => rankRoute(statuses.get(id), routes.get(id)) < ranks.closed);
    const shownRoutes = isTroubleOnly && troubledRoutes.length > 0 ? troubledRoutes : model.routes;
    return shownRoutes.map(({ id }, index) => ({
      // The name is shown only once for all routes of the model.
      model: index === 0 ? model.publicName : '',
      modelName: model.publicName,
      cost: costOf(model.publicName, id),
      ...describeRoute(id, statuses.get(id), routes.get(id), model.publicName, sharedRoutes.has(id), reader),
    }));
  });
}

function findSharedRoutes(models: readonly Model[]): ReadonlySet<string> {
  // Attempts on a shared route are counted for all of its models together.
  const ids = models.flatMap(({ routes }) => [...new Set(routes.map(({ id }) => id))]);
  const seen = new Set<string>();
  return new Set(ids.filter((id) => seen.has(id) || !seen.add(id)));
}

export function countRoutes({ catalog }: Pick<Host, 'catalog'>): number {
  return catalog.models.reduce((sum, { routes }) => sum + routes.length, 0);
}

/** @param rankModel returns the model's sort keys, most important first; smaller is worse */
function pickWorstModels(models: readonly Model[], minRows: number, rankModel: (model: Model) => number[]): Model[] {
  const ranked = models.map((model) => ({ model, rank: rankModel(model) }));
  const pickedModels: Model[] = [];
  let count = 0;
  for (const { model } of ranked.toSorted((a, b) => compareRanks(a.rank, b.rank))) {
    if (count >= minRows) break;
    pickedModels.push(model);
    count += model.routes.length;
  }
  return pickedModels;
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  // A negative result means that `a` is worse.
  return a.map((rank, index) => rank - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

function calculateFailedShare(traffic: RouteTraffic | undefined): number | undefined {
  const attempts = (traffic?.served ?? 0) + (traffic?.failed ?? 0);
  return attempts === 0 ? undefined : (traffic?.failed ?? 0) / attempts;
}

function rankRoute(status: RouteStatus | undefined, traffic: RouteTraffic | undefined): number {
  // Ranks range from 0 for an open breaker to 5 for no trouble.
  const share = calculateFailedShare(traffic) ?? 0;
  const keysRank = (status?.keys_cooling_down ?? 0) > 0 ? 2 : 5;
  return Math.min(ranks[status?.state ?? 'closed'], keysRank, rankFailedShare(share));
}

function rankFailedShare(share: number): number {
  if (share >= seriousFailedShare) return 3;
  return share >= troubledFailedShare ? 4 : 5;
}

function describeRoute(
  route: string,
  status: RouteStatus | undefined,
  traffic: RouteTraffic | undefined,
  model: string,
  isShared: boolean,
  reader: PageReader,
) {
  const { t, format } = reader;
  const share = calculateFailedShare(traffic);
  const served = traffic?.models.get(model);
  const coolingKeys = status?.keys_cooling_down ?? 0;
  return {
    route,
    status: describeBreaker(status, reader),
    keys: describeKeys(coolingKeys, status?.keys_closed ?? 0, t),
    requests: traffic === undefined ? '' : format.number(traffic.attempts),
    // The requests for this model, if the route's attempts include other models.
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

/** @param coolingKeys how many keys are cooling down, including closed ones */
function describeKeys(coolingKeys: number, closedKeys: number, t: PageReader['t']): string {
  return [
    ...(closedKeys > 0 ? [t('operator.keys_closed', { count: closedKeys })] : []),
    ...(coolingKeys > closedKeys ? [t('operator.keys_cooling', { count: coolingKeys - closedKeys })] : []),
  ].join(', ');
}

function describeCache(cache: ServedModel['cache'], { t, format }: PageReader) {
  if (cache === undefined) return { fromCache: '', toCache: '' };
  const writtenText =
    cache.written === 0 ? '' : t('operator.written_to_cache', { share: format.percent(cache.written) });
  return { fromCache: format.percent(cache.read), toCache: writtenText };
}

function describeFault(traffic: RouteTraffic | undefined, { t, format }: PageReader) {
  const fault = traffic?.lastFault;
  if (fault === undefined) return { fault: '', faultAt: '' };
  const text = describeFaultText(fault.error ?? fault.fault, t); // the time follows
  return { fault: text, faultAt: format.shortTime(new Date(fault.at)).text };
}
