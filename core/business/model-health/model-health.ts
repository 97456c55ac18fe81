import type { Catalog, Model } from '#core/config/catalog/catalog.ts';
import type { StatusReports } from '#core/gateway/health/status-report.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readRouteStatus, type RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { healthReadings } from './readings.ts';
import { availabilityOf, findTrouble, type RecentTraffic, type Trouble } from './trouble.ts';
import type { Incident } from './incident.ts';
import type { ModelSpeed } from './model-speed.ts';

/**
 * `working`: no impact on clients. `no_data`: no known problem, but also no request in the last 90 days that shows that the model
 * works. See `Trouble` for the others.
 */
export type ModelState = 'working' | 'degraded' | 'down' | 'no_data';

/** How a model of the catalog is now. */
export interface ModelHealth {
  readonly id: string; // public name
  readonly state: ModelState;
  /** Undefined while it works. */
  readonly trouble: Trouble | undefined;
  /** Epoch ms at which its current incident began; undefined without one. */
  readonly since: number | undefined;
  /** Median ms to the first token in the last hour; undefined without any. */
  readonly firstTokenMs: number | undefined;
  /** Its routes in the order of gateway.yaml; vendors' names and faults are for operators only. */
  readonly routes: readonly RouteStatus[];
  /** Requests of the last five minutes; undefined while the database does not respond. */
  readonly traffic: RecentTraffic | undefined;
}

/**
 * The state of every model that is offered, in the order of gateway.yaml, at most a few seconds old. Does not reject: while the
 * database does not respond, breakers alone decide.
 */
export async function readModelHealth(gateway: StatusReports, host: Host): Promise<readonly ModelHealth[]> {
  const readings = healthReadings(host);
  const [traffic, speed, days, incidents] = await Promise.all([
    readings.traffic.get().catch(() => undefined),
    readings.speed.get().catch(() => undefined),
    readings.days.get().catch(() => undefined),
    readings.incidents.get().catch((): readonly Incident[] => []),
  ]);
  const statuses = readRouteStatus(gateway, host);
  const open = new Map(incidents.filter(({ endedAt }) => endedAt === undefined).map((one) => [one.model, one]));
  return host.catalog.models.map((model) => {
    const recent = traffic && (traffic.get(model.publicName) ?? quiet);
    const isUsed = days === undefined || days.has(model.publicName) || (recent?.answered ?? 0) > 0;
    const current = open.get(model.publicName);
    return describe(model, statuses, { recent, speed: speed?.get(model.publicName), isUsed, current }, host.now());
  });
}

const quiet: RecentTraffic = { answered: 0, failed: 0, firstTokenMs: undefined, timed: 0 };

interface Known {
  readonly recent: RecentTraffic | undefined;
  readonly speed: ModelSpeed | undefined;
  /** False when it had no request in the last 90 days. */
  readonly isUsed: boolean;
  readonly current: Incident | undefined;
}

function describe(
  model: Model,
  statuses: ReadonlyMap<string, RouteStatus>,
  { recent, speed, isUsed, current }: Known,
  now: number,
): ModelHealth {
  const trouble = troubleOf(model, statuses, recent, speed, now);
  return {
    id: model.publicName,
    state: trouble?.kind ?? (isUsed ? 'working' : 'no_data'),
    trouble,
    since: current?.startedAt,
    firstTokenMs: speed?.lastHourMs,
    routes: model.routes.map(({ id }) => statuses.get(id) ?? closed(id)),
    traffic: recent,
  };
}

/** What is wrong with one model now. */
export function troubleOf(
  { routes }: Catalog['models'][number],
  statuses: ReadonlyMap<string, RouteStatus>,
  traffic: RecentTraffic | undefined,
  speed: ModelSpeed | undefined,
  now: number,
): Trouble | undefined {
  const availability = routes.map(({ id }) => availabilityOf(statuses.get(id), now));
  return findTrouble(availability, traffic, speed?.usualMs);
}

function closed(route: string): RouteStatus {
  return { route, state: 'closed', open_until: null, reason: null };
}
