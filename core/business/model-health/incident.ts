import { type Assessment, findLatest, type RememberedFailure, type Trouble } from './trouble.ts';

/** A period in which a model was in trouble, or was suspected to be. Times are epoch ms. */
export interface Incident {
  readonly id: string;
  readonly model: string; // public name
  readonly kind: Trouble['kind']; // the worst so far
  readonly cause: Trouble['cause'];
  readonly latest: Trouble;
  readonly failedAt: number | undefined; // last known failed request; undefined if none, as with slow models
  readonly servedAt?: number | undefined; // last response of a route since the incident began, if any
  readonly quietSince: number | undefined; // when requests stopped, so that the state is unknown; undefined while they arrive
  readonly lowestAnswered: number | undefined; // share of requests, 0 to 1; undefined if there were too few to tell
  readonly startedAt: number;
  readonly openedAt: number | undefined; // undefined while the incident is only suspected
  readonly calmSince: number | undefined; // when the trouble stopped; undefined while it lasts
  readonly checkedAt: number;
  readonly endedAt: number | undefined;
  readonly confirmedAt?: number | undefined; // time by which a probe had failed on every route of the model, if that happened
  readonly isRemoved?: boolean; // it ended because the model left the catalog while still in trouble
}

export interface Observation extends Assessment {
  readonly at: number;
  readonly answered: number | undefined; // share, 0 to 1
}

const openAfterMs = { down: 30_000, degraded: 120_000 } as const; // of trouble, including pauses
const closeAfterMs = 5 * 60_000; // long enough that a flapping breaker causes only one incident
const maxGapMs = 10 * 60_000; // after a longer gap, no gateway can have been running, so the incident ended at the last observation

/** @returns the updated incident, with `endedAt` if it is over; undefined if there is none */
export function updateIncident(
  model: string,
  current: Incident | undefined,
  observation: Observation,
  createId: () => string,
): Incident | undefined {
  const { at, trouble, isRemembered, isQuiet } = observation;
  if (current === undefined) return trouble && createSuspectedIncident(model, observation, trouble, createId());
  // The clock was set back; times in the future would delay the incident's end.
  if (at < current.checkedAt) return updateIncident(model, clampTimes(at, current), observation, createId);
  if (at - current.checkedAt > maxGapMs && !isRemembered && !isOnlyRememberedByBreakers(current, observation))
    return endIncident(current, lastTroubleAt(current));
  if (isQuiet) return { ...current, quietSince: current.quietSince ?? at, checkedAt: at };
  // The model gets requests again; if they fail, that is a new incident.
  if (current.quietSince !== undefined) return endIncident(current, lastTroubleAt(current));
  if (trouble !== undefined) return applyTrouble(current, observation, trouble);
  const calmSince = current.calmSince ?? at;
  if (at - calmSince >= closeAfterMs) return endIncident(current, calmSince);
  return { ...current, calmSince, checkedAt: at };
}

function isOnlyRememberedByBreakers(current: Incident, { trouble, failedAt }: Observation): boolean {
  // Like incidents, breakers remember trouble across a pause.
  return trouble?.cause === 'routes_out' && failedAt !== undefined && failedAt === current.failedAt;
}

/** Returns the failure that an incident remembers; undefined once the trouble is over, or if the model was only slow. */
export function getRememberedFailure(incident: Incident | undefined): RememberedFailure | undefined {
  if (incident?.failedAt === undefined || incident.calmSince !== undefined) return undefined;
  const { latest: trouble, failedAt, servedAt, confirmedAt } = incident;
  return { ...trouble, failedAt, servedAt, confirmedAt };
}

/** Returns when an incident ended; undefined while it lasts. If no traffic followed, it ended with its last failure. */
export function endTimeOf(incident: Incident): number | undefined {
  return incident.endedAt ?? (incident.quietSince === undefined ? undefined : lastTroubleAt(incident));
}

export function lastTroubleAt({ calmSince, quietSince, failedAt, checkedAt, startedAt }: Incident): number {
  return quietSince === undefined ? (calmSince ?? checkedAt) : Math.max(startedAt, failedAt ?? startedAt);
}

function clampTimes(
  at: number,
  { startedAt, calmSince, failedAt, servedAt, quietSince, ...incident }: Incident,
): Incident {
  return {
    ...incident,
    startedAt: Math.min(startedAt, at),
    calmSince: calmSince && Math.min(calmSince, at),
    failedAt: failedAt && Math.min(failedAt, at),
    servedAt: servedAt && Math.min(servedAt, at),
    quietSince: quietSince && Math.min(quietSince, at),
    checkedAt: at,
  };
}

/** Ends the incident of a model that is no longer offered. Removing a model counts as a recovery only if the trouble was already over. */
export function endRemovedIncident(current: Incident): Incident | undefined {
  const ended = endIncident(current, lastTroubleAt(current));
  return ended && { ...ended, isRemoved: current.calmSince === undefined };
}

/** Returns how an incident ended; `no_traffic` if no request followed the last failure. */
export function outcomeOf({ isRemoved, quietSince }: Incident): 'recovered' | 'no_traffic' | 'removed' {
  if (isRemoved === true) return 'removed';
  return quietSince === undefined ? 'recovered' : 'no_traffic';
}

function createSuspectedIncident(model: string, observation: Observation, trouble: Trouble, id: string): Incident {
  const { at, answered, servedAt } = observation;
  const unsetTimes = { openedAt: undefined, calmSince: undefined, quietSince: undefined, endedAt: undefined };
  const failedAt = findFailureTime(observation, trouble);
  return {
    id,
    model,
    ...trouble,
    latest: trouble,
    failedAt,
    servedAt,
    lowestAnswered: answered,
    startedAt: at,
    checkedAt: at,
    ...unsetTimes,
  };
}

function findFailureTime({ at, failedAt }: Observation, { cause }: Trouble): number | undefined {
  // Without a recorded failure, a breaker has just seen one.
  return cause === 'slow' ? undefined : (failedAt ?? at);
}

function applyTrouble(current: Incident, observation: Observation, trouble: Trouble): Incident {
  const { at, answered } = observation;
  const isWorse = trouble.kind === 'down' && current.kind === 'degraded';
  const { kind, cause } = isWorse ? trouble : current;
  // A few failed requests from one account are not an incident yet.
  const isOpen = trouble.cause !== 'last_failed' && at - current.startedAt >= openAfterMs[trouble.kind];
  const failedAt = observation.failedAt ?? current.failedAt ?? findFailureTime(observation, trouble);
  const shares = [current.lowestAnswered, answered].filter((share) => share !== undefined);
  return {
    ...current,
    kind,
    cause,
    latest: trouble,
    failedAt,
    servedAt: findLatest(observation.servedAt, current.servedAt),
    lowestAnswered: shares.length === 0 ? undefined : Math.min(...shares),
    openedAt: current.openedAt ?? (isOpen ? at : undefined),
    calmSince: undefined,
    checkedAt: at,
  };
}

function endIncident(current: Incident, endedAt: number): Incident | undefined {
  // Incidents that were only suspected are not kept.
  return current.openedAt === undefined ? undefined : { ...current, calmSince: undefined, endedAt };
}
