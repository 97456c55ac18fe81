import { describe, expect, it } from 'vitest';
import { describeDays, listLastDays } from '#core/business/model-health/days.ts';
import type { Incident } from '#core/business/model-health/incident.ts';

const zone = 'Asia/Jakarta';

function incident(startedAt: string, endedAt: string | undefined, kind: Incident['kind'] = 'down'): Incident {
  return {
    id: '0',
    model: 'dp/a',
    kind,
    cause: 'failing',
    latest: { kind, cause: 'failing' },
    failedAt: undefined,
    quietSince: undefined,
    lowestAnswered: undefined,
    startedAt: Date.parse(startedAt),
    openedAt: Date.parse(startedAt),
    calmSince: undefined,
    checkedAt: Date.parse(startedAt) + 60_000,
    endedAt: endedAt === undefined ? undefined : Date.parse(endedAt),
  };
}

function stateOf(answered: number, failed: number, incidents: Incident[] = []) {
  const { days } = describeDays(['2031-05-12'], [{ day: '2031-05-12', answered, failed }], incidents, zone);
  return days[0]?.state;
}

function stateOfEmpty(incidents: Incident[]) {
  return describeDays(['2031-05-12'], [], incidents, zone).days[0]?.state;
}

describe('the days of a model', () => {
  it('end today, and cross months', () => {
    expect(listLastDays('2031-03-02', 4)).toEqual(['2031-02-27', '2031-02-28', '2031-03-01', '2031-03-02']);
    expect(listLastDays('2031-05-12', 90)).toHaveLength(90);
  });

  it('are ok from 99.5 % on, and bad below 95 %', () => {
    expect(stateOf(995, 5)).toBe('ok');
    expect(stateOf(994, 6)).toBe('warn');
    expect(stateOf(950, 50)).toBe('warn');
    expect(stateOf(949, 51)).toBe('bad');
  });

  it('are not bad because of one or two failures', () => {
    expect(stateOf(1, 2)).toBe('warn');
    expect(stateOf(1, 3)).toBe('bad');
  });

  it('have no data without requests, unless an incident was going on', () => {
    const span = ['2031-05-12T03:00:00Z', '2031-05-12T04:00:00Z'] as const;
    expect(stateOfEmpty([])).toBe('none');
    expect(stateOfEmpty([incident(...span)])).toBe('bad');
    expect(stateOfEmpty([incident(...span, 'degraded')])).toBe('warn');
  });

  it('are marked by incidents on the days of the zone that they reach into', () => {
    const days = ['2031-05-11', '2031-05-12', '2031-05-13', '2031-05-14'];
    const answers = days.map((day) => ({ day, answered: 1_000, failed: 0 }));
    // 23:30 on the 12th to 00:30 on the 13th in Jakarta, which both lie on the 12th in UTC.
    const night = incident('2031-05-12T16:30:00Z', '2031-05-12T17:30:00Z');
    expect(describeDays(days, answers, [night], zone).days.map(({ state }) => state)).toEqual([
      'ok',
      'warn',
      'warn',
      'ok',
    ]);
    expect(describeDays(days, answers, [night], 'UTC').days.map(({ state }) => state)).toEqual([
      'ok',
      'warn',
      'ok',
      'ok',
    ]);
  });

  it('give the share of answered requests over all of them', () => {
    const answers = [
      { day: '2031-05-11', answered: 98, failed: 2 },
      { day: '2031-05-12', answered: 300, failed: 0 },
      { day: '2031-01-01', answered: 0, failed: 900 },
    ];
    expect(describeDays(['2031-05-11', '2031-05-12'], answers, [], zone).answered).toBe(0.995);
    expect(describeDays(['2031-05-11'], [], [], zone).answered).toBeUndefined();
  });
});
