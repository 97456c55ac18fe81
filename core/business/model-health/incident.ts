import { type Assessment, findLatest, type RememberedFailure, type Trouble } from './trouble.ts';

/** A period in which a model was in trouble, or was suspected to be. Times are epoch ms. */
export interface Incident {
  readonly id: string;
  readonly model: string; // public name
  /** The worst kind so far, with its cause. */
  readonly kind: Trouble['kind'];
  readonly cause: Trouble['cause'];
  readonly latest: Trouble;
  /** Last known failed request; undefined if there was none, as for slow models. */
  readonly failedAt: number | undefined;
  /** Last response of a route since the incident began; undefined if there was none. */
  readonly servedAt?: number | undefined;
  /** Start of a time without requests, when the model's state is unknown; undefined while it has requests. */
  readonly quietSince: number | undefined;
  /** Lowest share of answered requests, 0 to 1; undefined if there were too few. */
  readonly lowestAnswered: number | undefined;
  readonly startedAt: number;
  /** Time of confirmation as an incident; undefined while it is suspected. */
  readonly openedAt: number | undefined;
  /** Start of the time without trouble; undefined while in trouble. */
  readonly calmSince: number | undefined;
  readonly checkedAt: number;
  readonly endedAt: number | undefined;
  /** Time by which a probe had failed on every route of the model; undefined otherwise. */
  readonly confirmedAt?: number | undefined;
  /** True if it ended because the model was removed from the catalog while still in trouble. */
  readonly isRemoved?: boolean;
}

/** State of a model at one moment. */
export interface Observation extends Assessment {
  readonly at: number;
  readonly answered: number | undefined; // share, 0 to 1
}

/** Duration of trouble, including pauses, that opens an incident. */
const openAfterMs = { down: 30_000, degraded: 120_000 } as const;
/** Time without trouble that ends an incident. Long enough that a flapping breaker causes only one incident. */
const closeAfterMs = 5 * 60_000;
/** A longer gap between observations means that no gateway was running, so the incident ended at the last observation. */
const maxGapMs = 10 * 60_000;

/**
 * Updates a model's current incident with an observation.
 *
 * @param current the model's incident that has not ended, if any
 * @returns the updated incident, with `endedAt` if it is over; undefined without an incident
 */
export function updateIncident(
  model: string,
  current: Incident | undefined,
  observation: Observation,
  createId: () => string,
): Incident | undefined {
  const { at, trouble, isRemembered, isQuiet } = observation;
  if (current === undefined) return trouble && createSuspectedIncident(model, observation, trouble, createId());
  if (at < current.checkedAt) return updateIncident(model, clampTimes(at, current), observation, createId);
  if (at - current.checkedAt > maxGapMs && !isRemembered && !isBreakerMemory(current, observation))
    return endIncident(current, lastTroubleAt(current));
  if (isQuiet) return { ...current, quietSince: current.quietSince ?? at, checkedAt: at };
  // The model has requests again, so new failures are a new incident.
  if (current.quietSince !== undefined) return endIncident(current, lastTroubleAt(current));
  if (trouble !== undefined) return applyTrouble(current, observation, trouble);
  const calmSince = current.calmSince ?? at;
  if (at - calmSince >= closeAfterMs) return endIncident(current, calmSince);
  return { ...current, calmSince, checkedAt: at };
}

/** Returns true if only breakers still show the trouble, without a new failure. Like an incident, they remember it over a pause. */
function isBreakerMemory(current: Incident, { trouble, failedAt }: Observation): boolean {
  return trouble?.cause === 'routes_out' && failedAt !== undefined && failedAt === current.failedAt;
}

/** Returns the failure that an incident remembers; undefined once the trouble is over, or if the model was only slow. */
export function getRememberedFailure(incident: Incident | undefined): RememberedFailure | undefined {
  if (incident?.failedAt === undefined || incident.calmSince !== undefined) return undefined;
  const { latest: trouble, failedAt, servedAt, confirmedAt } = incident;
  return { ...trouble, failedAt, servedAt, confirmedAt };
}

/** Returns the end of an incident; undefined while it lasts. Without later traffic, an incident ends with its last failure. */
export function endOf(incident: Incident): number | undefined {
  return incident.endedAt ?? (incident.quietSince === undefined ? undefined : lastTroubleAt(incident));
}

/** Returns the last known time of trouble. */
export function lastTroubleAt({ calmSince, quietSince, failedAt, checkedAt, startedAt }: Incident): number {
  return quietSince === undefined ? (calmSince ?? checkedAt) : Math.max(startedAt, failedAt ?? startedAt);
}

/** Moves future timestamps back to `at` after the clock was set back, because they would delay the incident's end. */
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

/** Ends the incident of a model that is no longer offered. A removal only counts as a recovery if the trouble was already over. */
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

/** Returns the time of the last failed request; now if none is recorded, because then a breaker has seen the failure. */
function findFailureTime({ at, failedAt }: Observation, { cause }: Trouble): number | undefined {
  return cause === 'slow' ? undefined : (failedAt ?? at);
}

function applyTrouble(current: Incident, observation: Observation, trouble: Trouble): Incident {
  const { at, answered } = observation;
  const isWorse = trouble.kind === 'down' && current.kind === 'degraded';
  const { kind, cause } = isWorse ? trouble : current;
  // A few failed requests of one account are not an incident yet.
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

/** Ends an incident. Returns undefined for an incident that was only suspected, which is not kept. */
function endIncident(current: Incident, endedAt: number): Incident | undefined {
  return current.openedAt === undefined ? undefined : { ...current, calmSince: undefined, endedAt };
}
