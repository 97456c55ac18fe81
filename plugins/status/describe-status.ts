import type { DayStatus } from '#core/business/model-health/days.ts';
import { endTimeOf, type Incident, outcomeOf } from '#core/business/model-health/incident.ts';
import type { ModelCheckup } from '#core/business/model-health/readings.ts';
import { computeAnsweredShare, availabilityOf } from '#core/business/model-health/trouble.ts';
import { dayBars } from '#core/web/pages/geometry.ts';
import { describeModelState, formatSince } from '#core/web/pages/model-state.ts';
import type { Localizer } from '#core/web/pages/page.ts';
import { describePages } from '#core/web/pages/pagination.ts';
import { describeIncidentTitle, spanKeys } from './incident-text.ts';
import type { ModelStatus, ServiceStatus } from './service-status.ts';
import { describeVerdict } from './verdict.ts';

const phoneDays = 45; // on phones; the style sheet hides older days
const shareDigits = 2; // healthy services differ only in the second decimal
const maxIncidents = 20;

export function describeStatus(status: ServiceStatus, service: string, reader: Localizer) {
  const { t, format } = reader;
  const { health, models, incidents, credited, isComplete, hasHistory, at } = status;
  const current = incidents.filter((incident) => endTimeOf(incident) === undefined);
  const past = incidents.filter((incident) => endTimeOf(incident) !== undefined);
  const updated = format.clock(at);
  return {
    service,
    verdict: describeVerdict(
      health.map(({ state }) => state),
      t,
    ),
    updated: {
      iso: updated.iso,
      text: t(isComplete ? 'status.updated' : 'status.updated_without', { time: updated.text }),
    },
    hasHistory,
    notice: isComplete ? undefined : describeMissingHistory(hasHistory, t),
    flashes: current.map((incident) => describeCurrentIncident(incident, status, reader)),
    models: models.map((model) => describeModel(model, reader, at.getTime())),
    pages: describePages(status.page, health.length, 'status.shown', (page) => `/status?page=${page}`, reader),
    past: past.slice(0, maxIncidents).map((incident) => describePastIncident(incident, credited, reader)),
  };
}

function describeMissingHistory(hasHistory: boolean, t: Localizer['t']) {
  return hasHistory
    ? { kind: 'info', title: t('status.old_history'), text: t('status.old_history_more') }
    : { kind: 'info', title: t('status.no_history'), text: t('status.no_history_more') };
}

function describeCurrentIncident(incident: Incident, { health: models, at }: ServiceStatus, { t, format }: Localizer) {
  const { id, model, kind, startedAt, calmSince } = incident;
  const title = describeIncidentTitle(incident, t);
  const since = t('status.since', { time: formatSince(startedAt, format, at.getTime()) });
  if (calmSince !== undefined) {
    const text = t('status.calm', { time: format.shortTime(new Date(calmSince)).text });
    return { id, kind: 'info', title, text };
  }
  const effect = describeEffect(
    models.find(({ id: name }) => name === model),
    { t, format },
  );
  return { id, kind: kind === 'down' ? 'bad' : 'warn', title, text: `${since} ${effect}`.trim() };
}

function describeEffect(health: ModelStatus['health'] | undefined, { t, format }: Localizer): string {
  const share = computeAnsweredShare(health?.traffic);
  const isBackedUp = health !== undefined && isOnBackup(health.routes);
  if (share === undefined) return isBackedUp ? t('status.backup') : '';
  const values = { share: format.percent(share, shareDigits) };
  return t(isBackedUp ? 'status.backup_answered' : 'status.share_answered', values);
}

function isOnBackup(routes: ModelStatus['health']['routes']): boolean {
  const states = new Set(routes.map(availabilityOf));
  return (states.has('out') || states.has('unproven')) && states.has('available');
}

function describeModel({ health, days, answered, checkup }: ModelStatus, { t, format }: Localizer, now: number) {
  const { id } = health;
  const badDays = days.filter((day) => day.state === 'warn' || day.state === 'bad').toReversed();
  return {
    id,
    status: describeModelState(health, { t, format }, now),
    ...describeBars(id, days, t),
    answered:
      answered === undefined
        ? t('status.unanswered')
        : t('status.answered', { share: format.percent(answered, shareDigits) }),
    checkup: checkup === undefined ? undefined : describeCheckup(checkup, { t, format }),
    hasDays: days.length > 0,
    badDaysLabel: t('status.bad_days', { count: badDays.length }),
    badDays: badDays.map((day) => describeDay(day, { t, format })),
  };
}

function describeCheckup({ at, isPassed, isSameModel }: ModelCheckup, { t, format }: Localizer): string {
  const fingerprint = isSameModel === undefined ? [] : [t(`status.fingerprint.${isSameModel ? 'same' : 'changed'}`)];
  const result = [t(`status.probe.${isPassed ? 'passed' : 'failed'}`), ...fingerprint].join(', ');
  return t('status.probe', { time: format.dayTime(new Date(at)).text, found: result });
}

function describeBars(model: string, days: readonly DayStatus[], t: Localizer['t']) {
  const states = days.map(({ state }) => state);
  const bad = states.filter((state) => state === 'warn' || state === 'bad').length;
  const none = states.filter((state) => state === 'none').length;
  return {
    bars: dayBars(states),
    label: t('status.bars', { model, count: days.length, bad, none }),
    ago: t('status.ago', { count: days.length }),
    agoOnPhones: t('status.ago', { count: phoneDays }),
    // The share covers all days, even on phones.
    ofDays: t('status.of_days', { count: days.length }),
  };
}

function describeDay({ day, state, answered, incidents }: DayStatus, { t, format }: Localizer) {
  const causes = incidents.map((incident) => describeIncidentTitle(incident, t));
  return {
    ...formatDay(day, format),
    status: {
      kind: state === 'bad' ? 'bad' : 'warn',
      text: answered === undefined ? '' : format.percent(answered, shareDigits),
    },
    cause: causes.length > 0 ? [...new Set(causes)].join(' ') : t('status.cause.share'),
  };
}

/** Noon in UTC falls on this day in nearly every reader's zone. */
function formatDay(day: string, format: Localizer['format']) {
  return { iso: day, text: format.shortDay(new Date(`${day}T12:00:00Z`)).text };
}

function describePastIncident(incident: Incident, credited: ServiceStatus['credited'], { t, format }: Localizer) {
  const { id, kind, lowestAnswered, startedAt } = incident;
  const endedAt = endTimeOf(incident) ?? startedAt;
  const start = new Date(startedAt);
  const end = new Date(endedAt);
  const isOneDay = format.day(start).text === format.day(end).text;
  const span = t(spanKeys[outcomeOf(incident)], {
    start: format.dayTime(start).text,
    end: isOneDay ? format.shortTime(end).text : format.dayTime(end).text,
    duration: format.duration(Math.max(60_000, endedAt - startedAt)).text,
  });
  return {
    id,
    kind: kind === 'down' ? 'bad' : 'warn',
    title: describeIncidentTitle(incident, t),
    span,
    credit: credited.has(id)
      ? t('status.credit', { count: Math.max(1, Math.round((credited.get(id) ?? 0) / 60_000)) })
      : '',
    lowest:
      lowestAnswered === undefined ? '' : t('status.lowest', { share: format.percent(lowestAnswered, shareDigits) }),
  };
}
