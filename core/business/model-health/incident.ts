import type { Trouble } from './trouble.ts';

/** A time in which a model was in trouble, or one that is only suspected so far. Times are epoch ms. */
export interface Incident {
  readonly id: string;
  readonly model: string; // public name
  /** The worst so far, with its cause. */
  readonly kind: Trouble['kind'];
  readonly cause: Trouble['cause'];
  /** The smallest share of requests that were answered, 0 to 1; undefined where there were too few. */
  readonly lowestAnswered: number | undefined;
  readonly startedAt: number;
  /** When it had lasted long enough to be called an incident; undefined while it is suspected. */
  readonly openedAt: number | undefined;
  /** Since when the model has been without trouble; undefined while it has some. */
  readonly calmSince: number | undefined;
  readonly checkedAt: number;
  readonly endedAt: number | undefined;
}

/** How a model is at one moment. */
export interface Observation {
  readonly at: number;
  readonly trouble: Trouble | undefined;
  readonly answered: number | undefined; // share, 0 to 1
}

/** Ms that trouble must last, pauses included, before it is an incident. */
const patience = { down: 30_000, degraded: 120_000 } as const;
/** Ms without trouble that end an incident: a breaker that flaps makes one. */
export const calmTime = 5 * 60_000;
/** Ms without any observation, after which an incident ended when it was last observed: no gateway was running. */
const longestGap = 10 * 60_000;

/**
 * Updates a model's current incident by an observation.
 *
 * @param current the incident without an end, if any
 * @returns the updated incident, with `endedAt` when it is over; undefined when there is none to keep
 */
export function follow(
  model: string,
  current: Incident | undefined,
  observation: Observation,
  createId: () => string,
): Incident | undefined {
  const { at, trouble } = observation;
  if (current === undefined) return trouble && suspect(model, observation, trouble, createId());
  if (at < current.checkedAt) return follow(model, movedTo(at, current), observation, createId);
  if (at - current.checkedAt > longestGap) return end(current, current.calmSince ?? current.checkedAt);
  if (trouble !== undefined) return worsen(current, observation, trouble);
  const calmSince = current.calmSince ?? at;
  if (at - calmSince >= calmTime) return end(current, calmSince);
  return { ...current, calmSince, checkedAt: at };
}

/** The clock was set back since it was observed: it lasts from now on, because times to come would delay it by as much. */
function movedTo(at: number, { startedAt, calmSince, ...incident }: Incident): Incident {
  return {
    ...incident,
    startedAt: Math.min(startedAt, at),
    calmSince: calmSince && Math.min(calmSince, at),
    checkedAt: at,
  };
}

/** The incident of a model that is no longer offered. */
export function abandon(current: Incident): Incident | undefined {
  return end(current, current.calmSince ?? current.checkedAt);
}

function suspect(model: string, { at, answered }: Observation, trouble: Trouble, id: string): Incident {
  const calm = { openedAt: undefined, calmSince: undefined, endedAt: undefined };
  return { id, model, ...trouble, lowestAnswered: answered, startedAt: at, checkedAt: at, ...calm };
}

function worsen(current: Incident, { at, answered }: Observation, trouble: Trouble): Incident {
  const isWorse = trouble.kind === 'down' && current.kind === 'degraded';
  const { kind, cause } = isWorse ? trouble : current;
  const isOpen = at - current.startedAt >= patience[trouble.kind];
  const shares = [current.lowestAnswered, answered].filter((share) => share !== undefined);
  return {
    ...current,
    kind,
    cause,
    lowestAnswered: shares.length === 0 ? undefined : Math.min(...shares),
    openedAt: current.openedAt ?? (isOpen ? at : undefined),
    calmSince: undefined,
    checkedAt: at,
  };
}

/** What was only suspected leaves no trace. */
function end(current: Incident, endedAt: number): Incident | undefined {
  return current.openedAt === undefined ? undefined : { ...current, calmSince: undefined, endedAt };
}
