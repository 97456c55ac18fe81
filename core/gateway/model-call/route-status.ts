import type { Host } from '../host/host.ts';
import type { StatusReport, StatusReports } from '../health/status-report.ts';

/** A route as shown to operators: at `/readyz?verbose`, in `daypass routes` and on the front page. Times are RFC 3339. */
export interface RouteStatus {
  readonly route: string; // upstream/model
  /** State of the breaker; `no_model` while a route without the model is tried last. */
  readonly state: 'closed' | 'open' | 'half_open' | 'no_model';
  readonly open_until: string | null;
  /** Time when its breaker opened, regardless of failed probes since; omitted while it is closed. */
  readonly open_since?: string;
  readonly reason: string | null;
  /** API keys of its upstream in a cooldown: throttled, rejected or out of credit. */
  readonly keys_cooling_down?: number;
  /** Number of those keys closed by their vendor; omitted if none. */
  readonly keys_closed?: number;
}

/** Status report about routes, provided by the plugin that sends requests to them. */
export function routesReport(report: (host: Host) => RouteStatus[]): StatusReport {
  return { name: 'routes', report };
}

/** Reads the reported status of routes by route id; empty if no plugin provides it. */
export function readRouteStatus({ statusReports }: StatusReports, host: Host): Map<string, RouteStatus> {
  const statuses = (statusReports.get('routes')?.report(host) ?? []) as RouteStatus[];
  return new Map(statuses.map((status) => [status.route, status]));
}

/** True if the breaker is not closed, or keys are in cooldown. */
export function canReset(status: RouteStatus | undefined): boolean {
  return (status?.keys_cooling_down ?? 0) > 0 || (status?.state ?? 'closed') !== 'closed';
}
