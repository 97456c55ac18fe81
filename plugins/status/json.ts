import type { DayStatus } from '#core/business/model-health/days.ts';
import { endTimeOf, type Incident, outcomeOf } from '#core/business/model-health/incident.ts';
import type { ModelCheckup } from '#core/business/model-health/readings.ts';
import type { Language, Translate } from '#core/web/texts/texts.ts';
import { describeIncidentTitle } from './incident-text.ts';
import type { ModelStatus, ServiceStatus } from './service-status.ts';
import { describeVerdict } from './verdict.ts';

/** Times are RFC 3339, shares are 0 to 1 and rounded down, unknown values are null. Counts are not published. */
export function describeStatusJson(
  status: ServiceStatus,
  service: string,
  t: Translate,
  language: Language,
  notices: Readonly<Record<string, readonly object[]>> = {},
): object {
  const { at, health, models, page, incidents, credited, isComplete } = status;
  const verdict = describeVerdict(
    health.map(({ state }) => state),
    t,
  );
  const summary = {
    service,
    status: verdict.state,
    description: verdict.text,
    updated_at: at,
    complete: isComplete,
    model_count: health.length,
    next: page.number < page.count ? `/status.json?language=${language}&page=${page.number + 1}` : null,
  };
  return {
    ...summary,
    ...notices,
    // Repeated, so that a notice source with the same name cannot replace these fields.
    ...summary,
    models: models.map(describeModelJson),
    incidents: incidents.map((incident) => describeIncidentJson(incident, credited.get(incident.id), t)),
  };
}

function describeModelJson({ health, days, answered, checkup }: ModelStatus): object {
  const { id, state, since, failedAt, firstTokenMs } = health;
  return {
    id,
    status: state,
    since: formatTime(since),
    failed_at: formatTime(failedAt),
    first_token_ms: firstTokenMs === undefined ? null : Math.round(firstTokenMs),
    answered: roundShare(answered),
    days: days.map(describeDayJson),
    ...(checkup !== undefined && { probe: describeCheckupJson(checkup) }),
  };
}

function describeCheckupJson({ at, isPassed, isSameModel }: ModelCheckup): object {
  return { at: formatTime(at), status: isPassed ? 'passed' : 'failed', fingerprint: describeFingerprint(isSameModel) };
}

function describeFingerprint(isSameModel: boolean | undefined): string | null {
  if (isSameModel === undefined) return null;
  return isSameModel ? 'unchanged' : 'changed';
}

const publicDayStatuses = { ok: 'working', warn: 'degraded', bad: 'down', none: 'no_data' } as const;

function describeDayJson({ day, state, answered }: DayStatus): object {
  return { date: day, status: publicDayStatuses[state], answered: roundShare(answered) };
}

function describeIncidentJson(incident: Incident, credited: number | undefined, t: Translate): object {
  const { id, model, kind, lowestAnswered, startedAt, calmSince } = incident;
  const endedAt = endTimeOf(incident);
  return {
    id,
    model,
    status: kind,
    title: describeIncidentTitle(incident, t),
    lowest_answered: roundShare(lowestAnswered),
    started_at: formatTime(startedAt),
    calm_since: formatTime(calmSince),
    ended_at: formatTime(endedAt),
    credited_seconds: credited === undefined ? null : Math.round(credited / 1_000),
    outcome: endedAt === undefined ? null : outcomeOf(incident),
  };
}

function formatTime(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

/** Rounds a share down to four digits, so that only a full share is 1. */
function roundShare(share: number | undefined): number | null {
  return share === undefined ? null : Math.floor(share * 10_000) / 10_000;
}
