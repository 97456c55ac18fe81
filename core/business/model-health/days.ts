import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import type { DailyOutcomes } from './daily-outcomes.ts';
import { type Incident, lastTroubleAt } from './incident.ts';

/**
 * A model's state on one day. `ok`: nearly all requests were answered. `warn`, `bad`: some or many failed, or there was an incident.
 * `none`: there were no requests.
 */
export type DayState = 'ok' | 'warn' | 'bad' | 'none';

export interface DayStatus {
  readonly day: string; // `2026-11-22`
  readonly state: DayState;
  /** Share of requests that were answered, 0 to 1; undefined if there were none. */
  readonly answered: number | undefined;
  /** Incidents during any part of the day. */
  readonly incidents: readonly Incident[];
}

const limits = { warn: { share: 0.995, failed: 1 }, bad: { share: 0.95, failed: 3 } };

/** Lists the last `count` days, ending with `today` (`2026-11-22`), oldest first. */
export function listLastDays(today: string, count: number): string[] {
  const end = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) =>
    new Date(end - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  );
}

/** Describes a model's state on each of these days, and the share of all their requests that were answered. */
export function describeDays(
  days: readonly string[],
  outcomes: readonly DailyOutcomes[],
  incidents: readonly Incident[],
  timeZone: string,
): { readonly days: DayStatus[]; readonly answered: number | undefined } {
  const byDay = new Map(outcomes.map((entry) => [entry.day, entry]));
  const spans = incidents.map((incident) => ({ incident, ...findDaySpan(incident, timeZone) }));
  const statuses = days.map((day) => {
    const ongoing = spans.filter(({ first, last }) => first <= day && day <= last).map(({ incident }) => incident);
    const counts = byDay.get(day);
    return {
      day,
      state: determineState(counts, ongoing),
      answered: computeShare(counts ? [counts] : []),
      incidents: ongoing,
    };
  });
  return { days: statuses, answered: computeShare(days.flatMap((day) => byDay.get(day) ?? [])) };
}

function determineState(counts: DailyOutcomes | undefined, incidents: readonly Incident[]): DayState {
  const share = computeShare(counts ? [counts] : []);
  if (counts === undefined || share === undefined) {
    if (incidents.length === 0) return 'none';
    return incidents.some(({ kind }) => kind === 'down') ? 'bad' : 'warn';
  }
  if (share < limits.bad.share && counts.failed >= limits.bad.failed) return 'bad';
  if (share < limits.warn.share && counts.failed >= limits.warn.failed) return 'warn';
  return incidents.length > 0 ? 'warn' : 'ok';
}

/** Returns the share of requests that were answered on these days, 0 to 1; undefined if there were none. */
export function computeAnsweredShareOfDays(
  days: readonly string[],
  outcomes: readonly DailyOutcomes[],
): number | undefined {
  const daySet = new Set(days);
  return computeShare(outcomes.filter(({ day }) => daySet.has(day)));
}

function computeShare(counts: readonly DailyOutcomes[]): number | undefined {
  const answered = counts.reduce((sum, entry) => sum + entry.answered, 0);
  const total = answered + counts.reduce((sum, entry) => sum + entry.failed, 0);
  return total === 0 ? undefined : answered / total;
}

function findDaySpan(incident: Incident, timeZone: string) {
  const dayOf = (time: number) => formatLocalTime(new Date(time), timeZone).day;
  return { first: dayOf(incident.startedAt), last: dayOf(incident.endedAt ?? lastTroubleAt(incident)) };
}
