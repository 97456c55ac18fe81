import { type Assessment, latest, type RememberedFailure, type Trouble } from './trouble.ts';

/** A period in which a model was in trouble, or is only suspected so far. Times are epoch ms. */
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
  /** Start of a time without requests, in which the model's state is unknown; undefined while it has requests. */
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

/** Trouble must last this long, pauses included, to open an incident. */
const openAfterMs = { down: 30_000, degraded: 120_000 } as const;
/** Time without trouble that ends an incident, so that a flapping breaker makes only one. */
const closeAfterMs = 5 * 60_000;
/** After a longer gap between observations, no gateway was running: the incident ended at the last observation. */
const maxGapMs = 10 * 60_000;

/**
 * Updates a model's current incident with an observation.
 *
 * @param current the incident without an end, if any
 * @returns the updated incident, with `endedAt` if it is over; undefined without an incident
 */
export function follow(
  model: string,
  current: Incident | undefined,
  observation: Observation,
  createId: () => string,
): Incident | undefined {
  const { at, trouble, isRemembered, isQuiet } = observation;
  if (current === undefined) return trouble && suspect(model, observation, trouble, createId());
  if (at < current.checkedAt) return follow(model, movedTo(at, current), observation, createId);
  if (at - current.checkedAt > maxGapMs && !isRemembered && !isOfBreakers(current, observation))
    return end(current, lastSeen(current));
  if (isQuiet) return { ...current, quietSince: current.quietSince ?? at, checkedAt: at };
  // The model works again: new failures are another incident.
  if (current.quietSince !== undefined) return end(current, lastSeen(current));
  if (trouble !== undefined) return worsen(current, observation, trouble);
  const calmSince = current.calmSince ?? at;
  if (at - calmSince >= closeAfterMs) return end(current, calmSince);
  return { ...current, calmSince, checkedAt: at };
}

/** True if only breakers still show trouble, without a failure since: like an incident, they remember it over a pause. */
function isOfBreakers(current: Incident, { trouble, failedAt }: Observation): boolean {
  return trouble?.cause === 'routes_out' && failedAt !== undefined && failedAt === current.failedAt;
}

/** Returns an incident's memory of the model's failures; undefined once the trouble is over, or if the model was only slow. */
export function rememberedBy(incident: Incident | undefined): RememberedFailure | undefined {
  if (incident?.failedAt === undefined || incident.calmSince !== undefined) return undefined;
  const { latest: trouble, failedAt, servedAt, confirmedAt } = incident;
  return { ...trouble, failedAt, servedAt, confirmedAt };
}

/** Returns the end of an incident; for a model without traffic since then, its last failure; undefined while the incident lasts. */
export function endOf(incident: Incident): number | undefined {
  return incident.endedAt ?? (incident.quietSince === undefined ? undefined : lastSeen(incident));
}

/** Returns the last known time of trouble. */
export function lastSeen({ calmSince, quietSince, failedAt, checkedAt, startedAt }: Incident): number {
  return quietSince === undefined ? (calmSince ?? checkedAt) : Math.max(startedAt, failedAt ?? startedAt);
}

/** If the clock was set back, the incident continues from now: future timestamps would delay its end. */
function movedTo(
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

/** Ends the incident of a model that is no longer offered. The removal is no recovery, unless the model was already without trouble. */
export function abandon(current: Incident): Incident | undefined {
  const ended = end(current, lastSeen(current));
  return ended && { ...ended, isRemoved: current.calmSince === undefined };
}

/** Returns the end of a past incident; `no_traffic` if no request followed the last failure. */
export function outcomeOf({ isRemoved, quietSince }: Incident): 'recovered' | 'no_traffic' | 'removed' {
  if (isRemoved === true) return 'removed';
  return quietSince === undefined ? 'recovered' : 'no_traffic';
}

function suspect(model: string, observation: Observation, trouble: Trouble, id: string): Incident {
  const { at, answered, servedAt } = observation;
  const unset = { openedAt: undefined, calmSince: undefined, quietSince: undefined, endedAt: undefined };
  const failedAt = failureOf(observation, trouble);
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
    ...unset,
  };
}

/** If no failed request is recorded, a breaker has seen the failure. */
function failureOf({ at, failedAt }: Observation, { cause }: Trouble): number | undefined {
  return cause === 'slow' ? undefined : (failedAt ?? at);
}

function worsen(current: Incident, observation: Observation, trouble: Trouble): Incident {
  const { at, answered } = observation;
  const isWorse = trouble.kind === 'down' && current.kind === 'degraded';
  const { kind, cause } = isWorse ? trouble : current;
  // A few failed requests of one account are no incident yet.
  const isOpen = trouble.cause !== 'last_failed' && at - current.startedAt >= openAfterMs[trouble.kind];
  const failedAt = observation.failedAt ?? current.failedAt ?? failureOf(observation, trouble);
  const shares = [current.lowestAnswered, answered].filter((share) => share !== undefined);
  return {
    ...current,
    kind,
    cause,
    latest: trouble,
    failedAt,
    servedAt: latest(observation.servedAt, current.servedAt),
    lowestAnswered: shares.length === 0 ? undefined : Math.min(...shares),
    openedAt: current.openedAt ?? (isOpen ? at : undefined),
    calmSince: undefined,
    checkedAt: at,
  };
}

/** An unconfirmed suspicion leaves no incident. */
function end(current: Incident, endedAt: number): Incident | undefined {
  return current.openedAt === undefined ? undefined : { ...current, calmSince: undefined, endedAt };
}
