import { localTime } from '#core/platform/timing/time-zone.ts';
import type { DailyOutcomes } from './daily-answers.ts';
import { type Incident, lastSeen } from './incident.ts';

/** State of a model on a day. `ok`: nearly all requests were answered. `none`: there were none. */
export type DayState = 'ok' | 'warn' | 'bad' | 'none';

export interface DayStatus {
  readonly day: string; // `2026-11-22`
  readonly state: DayState;
  /** Share of answered requests, 0 to 1; undefined without requests. */
  readonly answered: number | undefined;
  /** Incidents that lasted during any part of the day. */
  readonly incidents: readonly Incident[];
}

/** A day is marked if its share of answered requests is below `share`, with at least `failed` failures. */
const limits = { warn: { share: 0.995, failed: 1 }, bad: { share: 0.95, failed: 3 } };

/**
 * Returns the last days up to `today`, oldest first.
 *
 * @param today `2026-11-22`
 */
export function lastDays(today: string, count: number): string[] {
  const end = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) =>
    new Date(end - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  );
}

/** Describes the state of a model on each of these days, and the share of requests answered on all of them. */
export function describeDays(
  days: readonly string[],
  answers: readonly DailyOutcomes[],
  incidents: readonly Incident[],
  timeZone: string,
): { readonly days: DayStatus[]; readonly answered: number | undefined } {
  const byDay = new Map(answers.map((entry) => [entry.day, entry]));
  const spans = incidents.map((incident) => ({ incident, ...spanOf(incident, timeZone) }));
  const described = days.map((day) => {
    const own = spans.filter(({ first, last }) => first <= day && day <= last).map(({ incident }) => incident);
    const counts = byDay.get(day);
    return { day, state: stateOf(counts, own), answered: shareOf(counts ? [counts] : []), incidents: own };
  });
  return { days: described, answered: shareOf(days.flatMap((day) => byDay.get(day) ?? [])) };
}

function stateOf(counts: DailyOutcomes | undefined, incidents: readonly Incident[]): DayState {
  const share = shareOf(counts ? [counts] : []);
  if (counts === undefined || share === undefined)
    return incidents.some(({ kind }) => kind === 'down') ? 'bad' : incidents.length > 0 ? 'warn' : 'none';
  if (share < limits.bad.share && counts.failed >= limits.bad.failed) return 'bad';
  if (share < limits.warn.share && counts.failed >= limits.warn.failed) return 'warn';
  return incidents.length > 0 ? 'warn' : 'ok';
}

/** Returns the share of answered requests on these days, 0 to 1; undefined without requests. */
export function answeredOn(days: readonly string[], answers: readonly DailyOutcomes[]): number | undefined {
  const daySet = new Set(days);
  return shareOf(answers.filter(({ day }) => daySet.has(day)));
}

function shareOf(counts: readonly DailyOutcomes[]): number | undefined {
  const answered = counts.reduce((sum, entry) => sum + entry.answered, 0);
  const all = answered + counts.reduce((sum, entry) => sum + entry.failed, 0);
  return all === 0 ? undefined : answered / all;
}

function spanOf(incident: Incident, timeZone: string) {
  const dayOf = (time: number) => localTime(new Date(time), timeZone).day;
  return { first: dayOf(incident.startedAt), last: dayOf(incident.endedAt ?? lastSeen(incident)) };
}
