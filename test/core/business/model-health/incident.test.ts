import { describe, expect, it } from 'vitest';
import {
  endRemovedIncident,
  endTimeOf,
  updateIncident,
  type Incident,
  type Observation,
  getRememberedFailure,
} from '#core/business/model-health/incident.ts';
import {
  assess,
  noTraffic,
  type RecentTraffic,
  type RouteAvailability,
  type Trouble,
} from '#core/business/model-health/trouble.ts';

const start = Date.UTC(2031, 4, 12, 12);
const down: Trouble = { kind: 'down', cause: 'routes_out' };
const slow: Trouble = { kind: 'degraded', cause: 'slow' };
const second = 1_000;
const minute = 60 * second;

/** How a model is at a time. */
function observed(at: number, trouble: Trouble | undefined, more: Partial<Observation> = {}): Observation {
  return {
    at,
    trouble,
    isRemembered: false,
    isQuiet: false,
    failedAt: undefined,
    servedAt: undefined,
    answered: undefined,
    ...more,
  };
}

/** Watches a model: what was wrong from which second on, observed every 15 seconds until the last second. */
function watch(changes: Record<number, Trouble | undefined>, until: number) {
  let current: Incident | undefined;
  let made = 0;
  const ended: Incident[] = [];
  let trouble: Trouble | undefined;
  for (let at = 0; at <= until; at += 15) {
    if (at in changes) trouble = changes[at];
    current = updateIncident('dp/a', current, observed(start + at * second, trouble), () => `${++made}`);
    if (current?.endedAt !== undefined) {
      ended.push(current);
      current = undefined;
    }
  }
  return { current, ended, made };
}

const after = (seconds: number) => start + seconds * second;

function observe(current: Incident | undefined, at: number, answered: number | undefined): Incident | undefined {
  return updateIncident('dp/a', current, observed(after(at), slow, { answered }), () => '1');
}

describe('an incident', () => {
  it('opens when a model has been down for half a minute, and says since when', () => {
    expect(watch({ 0: down }, 15).current?.openedAt).toBeUndefined();
    expect(watch({ 0: down }, 30).current).toMatchObject({ startedAt: after(0), openedAt: after(30), kind: 'down' });
  });

  it('opens after two minutes of a degraded model', () => {
    expect(watch({ 0: slow }, 105).current?.openedAt).toBeUndefined();
    expect(watch({ 0: slow }, 120).current?.openedAt).toBe(after(120));
  });

  it('opens as soon, and ends as soon, when the clock was set back by an hour since it began', () => {
    const at = (seconds: number) => after(seconds - 3_600);
    const began = updateIncident('dp/a', undefined, observed(after(0), down), () => '1');
    const seen = updateIncident('dp/a', began, observed(at(15), down), () => '2');
    const opened = updateIncident('dp/a', seen, observed(at(45), down), () => '2');
    expect(opened).toMatchObject({ id: '1', openedAt: at(45) });
    const calm = updateIncident('dp/a', opened, observed(after(60), undefined), () => '2');
    const still = updateIncident('dp/a', calm, observed(at(75), undefined), () => '2');
    const over = updateIncident('dp/a', still, observed(at(75 + 300), undefined), () => '2');
    expect(over).toMatchObject({ id: '1', endedAt: at(75) });
  });

  it('is forgotten when it was over before it opened', () => {
    expect(watch({ 0: down, 15: undefined }, 600)).toEqual({ current: undefined, ended: [], made: 1 });
  });

  it('ends after five minutes of calm, at the time when the calm began', () => {
    const { current, ended } = watch({ 0: down, 60: undefined }, 360);
    expect(current).toBeUndefined();
    expect(ended).toMatchObject([{ startedAt: after(0), endedAt: after(60) }]);
  });

  it('is one, however often the breaker opens and closes meanwhile', () => {
    const flaps = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [index * 60, index % 2 === 0 ? down : undefined]),
    );
    const { ended, current, made } = watch({ ...flaps, 2_400: undefined }, 3_000);
    expect(made).toBe(1);
    expect(current).toBeUndefined();
    expect(ended).toMatchObject([{ startedAt: after(0), endedAt: after(2_340) }]);
  });

  it('keeps its worst state with its cause', () => {
    const { current } = watch({ 0: slow, 300: down, 360: slow }, 420);
    expect(current).toMatchObject({ kind: 'down', cause: 'routes_out', startedAt: after(0) });
  });

  it('keeps the smallest share of answered requests', () => {
    const shares = [undefined, 0.9, 0.4, 0.8, undefined];
    const last = shares.reduce<Incident | undefined>(
      (current, share, index) => observe(current, index * 15, share),
      undefined,
    );
    expect(last?.lowestAnswered).toBe(0.4);
  });

  it('ends at its last evaluation, if it was not evaluated for more than ten minutes', () => {
    const { current } = watch({ 0: down }, 60);
    const late = observed(after(60) + 10 * minute + 1, down);
    expect(updateIncident('dp/a', current, late, () => '2')).toMatchObject({ id: '1', endedAt: after(60) });
    expect(updateIncident('dp/a', current, { ...late, at: late.at - 1 }, () => '2')).toMatchObject({
      endedAt: undefined,
    });
  });

  it('ends with its model', () => {
    const { current } = watch({ 0: down }, 60);
    expect(endRemovedIncident(current as Incident)).toMatchObject({ endedAt: after(60), isRemoved: true });
    const calm = watch({ 0: down, 60: undefined }, 90).current as Incident;
    expect(endRemovedIncident(calm)).toMatchObject({ endedAt: after(60), isRemoved: false });
    expect(endRemovedIncident(watch({ 0: down }, 15).current as Incident)).toBeUndefined();
  });

  it('is not opened by a few failed requests of one account', () => {
    const few: Trouble = { kind: 'degraded', cause: 'last_failed' };
    expect(watch({ 0: few }, 900).current).toMatchObject({ startedAt: after(0), openedAt: undefined });
  });

  it('remembers the latest trouble and failure, until the model responds', () => {
    const failing = observed(after(0), down, { failedAt: after(-3) });
    const began = updateIncident('dp/a', undefined, failing, () => '1');
    expect(getRememberedFailure(began)).toEqual({ ...down, failedAt: after(-3) });
    const calm = updateIncident('dp/a', began, observed(after(15), undefined), () => '1');
    expect(getRememberedFailure(calm)).toBeUndefined();
    expect(
      getRememberedFailure(updateIncident('dp/a', undefined, observed(after(0), slow), () => '1')),
    ).toBeUndefined();
  });

  it('without traffic is over at its last failure, and a later failure begins another', () => {
    const began = updateIncident('dp/a', undefined, observed(after(0), down, { failedAt: after(0) }), () => '1');
    const opened = updateIncident('dp/a', began, observed(after(45), down, { failedAt: after(40) }), () => '2');
    const silence = observed(after(20 * 60), down, { isRemembered: true, isQuiet: true, failedAt: after(40) });
    const quiet = updateIncident('dp/a', opened, silence, () => '2');
    expect(quiet).toMatchObject({ id: '1', quietSince: after(20 * 60), endedAt: undefined });
    expect(endTimeOf(quiet as Incident)).toBe(after(40));
    const again = updateIncident(
      'dp/a',
      quiet,
      observed(after(21 * 60), down, { failedAt: after(21 * 60) }),
      () => '2',
    );
    expect(again).toMatchObject({ id: '1', endedAt: after(40) });
    expect(updateIncident('dp/a', quiet, observed(after(21 * 60), undefined), () => '2')).toMatchObject({
      endedAt: after(40),
    });
  });

  it('goes on after a pause without a gateway, as long as nothing has proven that it is over', () => {
    const { current } = watch({ 0: down }, 60);
    const later = observed(after(60) + 11 * minute, down, { isRemembered: true, failedAt: after(60) });
    expect(updateIncident('dp/a', current, later, () => '2')).toMatchObject({ id: '1', endedAt: undefined });
  });

  it.each<RouteAvailability>(['available', 'unproven'])(
    'of a model with a route that is %s is quiet after a pause without a failure, and no new one',
    (route) => {
      const traffic = { ...noTraffic, failed: 10, failedInRow: 10, failedAccounts: 2, lastFailedAt: after(-1) };
      const look = (current: Incident | undefined, at: number, recent: RecentTraffic) => {
        const assessment = assess([route], recent, undefined, getRememberedFailure(current), at);
        return {
          assessment,
          current: updateIncident('dp/a', current, { at, ...assessment, answered: undefined }, () => '1'),
        };
      };
      let { current } = look(undefined, after(0), traffic);
      ({ current } = look(current, after(45), traffic));
      for (const seconds of [20 * 60, 20 * 60 + 15]) {
        const later = look(current, after(seconds), noTraffic);
        expect(later.assessment).toMatchObject({ isQuiet: true, failedAt: after(-1) });
        ({ current } = later);
        expect(current).toMatchObject({ quietSince: after(20 * 60), endedAt: undefined });
      }
    },
  );

  it('of routes that are out is another one after a pause, if a request failed since', () => {
    const { current } = watch({ 0: down }, 60);
    const later = after(60) + 11 * minute;
    const failing = observed(later, down, { failedAt: later - second });
    expect(updateIncident('dp/a', current, failing, () => '2')).toMatchObject({ id: '1', endedAt: after(60) });
  });
});
