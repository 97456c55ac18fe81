import { endOf, type Incident, outcomeOf } from '#core/business/model-health/incident.ts';
import type { ModelCheckup } from '#core/business/model-health/readings.ts';
import type { Language, Translate } from '#core/web/texts/texts.ts';
import { incidentTitle } from './incident-text.ts';
import type { DayStatus } from '#core/business/model-health/days.ts';
import type { ModelStatus, ServiceStatus } from './service-status.ts';
import { verdictOf } from './verdict.ts';

/** Writes `/status.json`. Times are RFC 3339, shares 0 to 1 rounded down, unknown values null; counts are not published. */
export function toJson(
  status: ServiceStatus,
  service: string,
  t: Translate,
  language: Language,
  notices: Readonly<Record<string, readonly object[]>> = {},
): object {
  const { at, health, models, page, incidents, credited, isComplete } = status;
  const verdict = verdictOf(
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
    // Repeated, so that a notice source with the same name cannot replace these members.
    ...summary,
    models: models.map(modelToJson),
    incidents: incidents.map((incident) => incidentToJson(incident, credited.get(incident.id), t)),
  };
}

function modelToJson({ health, days, answered, checkup }: ModelStatus): object {
  const { id, state, since, failedAt, firstTokenMs } = health;
  return {
    id,
    status: state,
    since: timeOf(since),
    failed_at: timeOf(failedAt),
    first_token_ms: firstTokenMs === undefined ? null : Math.round(firstTokenMs),
    answered: shareOf(answered),
    days: days.map(dayToJson),
    ...(checkup !== undefined && { probe: checkupToJson(checkup) }),
  };
}

function checkupToJson({ at, isPassed, isSameModel }: ModelCheckup): object {
  const fingerprint = isSameModel === undefined ? null : isSameModel ? 'unchanged' : 'changed';
  return { at: timeOf(at), status: isPassed ? 'passed' : 'failed', fingerprint };
}

const statusOfDays = { ok: 'working', warn: 'degraded', bad: 'down', none: 'no_data' } as const;

function dayToJson({ day, state, answered }: DayStatus): object {
  return { date: day, status: statusOfDays[state], answered: shareOf(answered) };
}

function incidentToJson(incident: Incident, credited: number | undefined, t: Translate): object {
  const { id, model, kind, lowestAnswered, startedAt, calmSince } = incident;
  const endedAt = endOf(incident);
  return {
    id,
    model,
    status: kind,
    title: incidentTitle(incident, t),
    lowest_answered: shareOf(lowestAnswered),
    started_at: timeOf(startedAt),
    calm_since: timeOf(calmSince),
    ended_at: timeOf(endedAt),
    credited_seconds: credited === undefined ? null : Math.round(credited / 1_000),
    outcome: endedAt === undefined ? null : outcomeOf(incident),
  };
}

function timeOf(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

/** Four digits, rounded down: a partial share is never shown as 1. */
function shareOf(share: number | undefined): number | null {
  return share === undefined ? null : Math.floor(share * 10_000) / 10_000;
}
