import { readModelHealth } from '#core/business/model-health/model-health.ts';
import type { StatusReports } from '#core/gateway/health/status-report.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readRouteStatus } from '#core/gateway/model-call/route-status.ts';
import { overviewReadings } from './readings.ts';

export type OverviewSources = Awaited<ReturnType<typeof readOverviewSources>>;

export async function readOverviewSources(gateway: StatusReports, host: Host) {
  const [models, recent] = await Promise.all([readModelHealth(gateway, host), overviewReadings.routes(host).get()]);
  return { models, statuses: readRouteStatus(gateway, host), recent };
}
