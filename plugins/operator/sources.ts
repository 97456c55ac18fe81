import { type ModelHealth, readModelHealth } from '#core/business/model-health/model-health.ts';
import type { StatusReports } from '#core/gateway/health/status-report.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readRouteStatus, type RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { overviewReadings } from './readings.ts';
import type { RecentRoutes } from './route-traffic.ts';

/** States of models and routes, as all parts of a page show them. */
export interface OverviewSources {
  readonly models: readonly ModelHealth[];
  readonly statuses: ReadonlyMap<string, RouteStatus>;
  readonly recent: RecentRoutes;
}

export async function readSources(gateway: StatusReports, host: Host): Promise<OverviewSources> {
  const [models, recent] = await Promise.all([readModelHealth(gateway, host), overviewReadings(host).routes.get()]);
  return { models, statuses: readRouteStatus(gateway, host), recent };
}
