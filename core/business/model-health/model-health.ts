import type { Catalog, Model } from '#core/config/catalog/catalog.ts';
import type { StatusReports } from '#core/gateway/health/status-report.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { readRouteStatus, type RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { type Incident, getRememberedFailure } from './incident.ts';
import type { ModelSpeed } from './model-speed.ts';
import { getHealthReadings } from './readings.ts';
import { assess, type Assessment, availabilityOf, noTraffic, type RecentTraffic, type Trouble } from './trouble.ts';

/**
 * `working`: no impact on clients. `no_data`: no known problem, but no response in the last 90 days that would show that the model works.
 * `unknown`: the model failed and has had no request since, or only its failures are known. For the other states, see `Trouble`.
 */
export type ModelState = 'working' | 'degraded' | 'down' | 'unknown' | 'no_data';

const troubledStates: readonly ModelState[] = ['down', 'degraded', 'unknown'];

/** Ranks states for sorting: the worse the state, the smaller the number. */
export function severityOf(state: ModelState): number {
  const index = troubledStates.indexOf(state);
  return index < 0 ? troubledStates.length : index;
}

export interface ModelHealth {
  readonly id: string; // public name
  readonly state: ModelState;
  readonly trouble: Trouble | undefined;
  readonly since: number | undefined; // when its current incident began, in epoch ms; undefined if there is none
  readonly failedAt: number | undefined; // its last known failure while it is in trouble, in epoch ms
  /** Median ms to the first token in the last hour; undefined if there were no responses. */
  readonly firstTokenMs: number | undefined;
  /** The model's routes, in the order of gateway.yaml. Vendors' names and faults are only for operators. */
  readonly routes: readonly RouteStatus[];
  /** Requests in the last five minutes; undefined if the database does not respond. */
  readonly traffic: RecentTraffic | undefined;
}

/**
 * Reads the state of every offered model, in the order of gateway.yaml. It may be a few seconds old. Does not reject: if the database does
 * not respond, the state depends on breakers alone.
 */
export async function readModelHealth(gateway: StatusReports, host: Host): Promise<readonly ModelHealth[]> {
  const readings = getHealthReadings(host);
  const [traffic, speed, days, current] = await Promise.all([
    readings.traffic.get().catch(() => undefined),
    readings.speed.get().catch(() => undefined),
    readings.days.get().catch(() => undefined),
    readings.currentIncidents.get().catch((): readonly Incident[] => []),
  ]);
  const statuses = readRouteStatus(gateway, host);
  const incidents = new Map(current.map((incident) => [incident.model, incident]));
  return host.catalog.models.map((model) => {
    const name = model.publicName;
    const recent = traffic && (traffic.get(name) ?? noTraffic);
    const hasAnswered = days?.get(name)?.some(({ answered }) => answered > 0) ?? days === undefined;
    const isUsed = hasAnswered || (recent?.answered ?? 0) > 0;
    const hasFailed = days?.get(name)?.some(({ failed }) => failed > 0) === true;
    const evidence = { recent, speed: speed?.get(name), isUsed, hasFailed, current: incidents.get(name) };
    return describeHealth(model, statuses, evidence, host.now());
  });
}

/** Reads only the state of each model, by public name. Does not reject. */
export async function readModelStates(gateway: StatusReports, host: Host): Promise<ReadonlyMap<string, ModelState>> {
  return new Map((await readModelHealth(gateway, host)).map(({ id, state }) => [id, state]));
}

interface Evidence {
  readonly recent: RecentTraffic | undefined;
  readonly speed: ModelSpeed | undefined;
  readonly isUsed: boolean; // the model answered a request in the last 90 days
  readonly hasFailed: boolean; // in the last 90 days
  readonly current: Incident | undefined;
}

function describeHealth(
  model: Model,
  statuses: ReadonlyMap<string, RouteStatus>,
  { recent, speed, isUsed, hasFailed, current }: Evidence,
  now: number,
): ModelHealth {
  const { trouble, isQuiet, failedAt } = assessModel(model, statuses, recent, speed, current, now);
  const stateWithoutAnswers = hasFailed ? 'unknown' : 'no_data';
  const stateWithoutTrouble = isUsed ? 'working' : stateWithoutAnswers;
  return {
    id: model.publicName,
    state: isQuiet ? 'unknown' : (trouble?.kind ?? stateWithoutTrouble),
    trouble,
    since: trouble && current?.startedAt,
    failedAt: trouble && failedAt,
    firstTokenMs: speed?.lastHourMs,
    routes: model.routes.map(({ id }) => statuses.get(id) ?? closedRoute(id)),
    traffic: recent,
  };
}

/** @param current the incident that has not ended, if any */
export function assessModel(
  { routes }: Catalog['models'][number],
  statuses: ReadonlyMap<string, RouteStatus>,
  traffic: RecentTraffic | undefined,
  speed: ModelSpeed | undefined,
  current: Incident | undefined,
  now: number,
): Assessment {
  const availability = routes.map(({ id }) => availabilityOf(statuses.get(id)));
  return assess(availability, traffic, speed?.usualMs, getRememberedFailure(current), now);
}

function closedRoute(route: string): RouteStatus {
  return { route, state: 'closed', open_until: null, reason: null };
}
