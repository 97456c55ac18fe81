import type { StatusReport, StatusReports } from '../health/status-report.ts';
import type { Host } from '../host/host.ts';

/** A route as shown to operators at `/readyz?verbose`, in `daypass routes` and on their front page. Times are RFC 3339. */
export interface RouteStatus {
  readonly route: string; // upstream/model
  /** State of the breaker; `no_model` while the route is tried last because it does not have the model. */
  readonly state: 'closed' | 'open' | 'half_open' | 'no_model';
  readonly open_until: string | null;
  readonly open_since?: string; // when the breaker first opened, regardless of failed probes since; omitted while it is closed
  readonly reason: string | null;
  readonly keys_cooling_down?: number; // because they are throttled, rejected or out of credit
  readonly keys_closed?: number; // by the vendor; omitted if none
}

/** Creates the status report about routes, for the plugin that sends requests to them. */
export function createRoutesReport(report: (host: Host) => RouteStatus[]): StatusReport {
  return { name: 'routes', report };
}

/** By route id; empty if no plugin reports it. */
export function readRouteStatus({ statusReports }: StatusReports, host: Host): Map<string, RouteStatus> {
  const statuses = (statusReports.get('routes')?.report(host) ?? []) as RouteStatus[];
  return new Map(statuses.map((status) => [status.route, status]));
}

/** Returns true if resetting the route has an effect, because its breaker is not closed or keys are in cooldown. */
export function canReset(status: RouteStatus | undefined): boolean {
  return (status?.keys_cooling_down ?? 0) > 0 || (status?.state ?? 'closed') !== 'closed';
}
