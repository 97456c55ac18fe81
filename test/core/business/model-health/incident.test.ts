import { describe, expect, it } from 'vitest';
import { abandon, follow, type Incident } from '#core/business/model-health/incident.ts';
import type { Trouble } from '#core/business/model-health/trouble.ts';

const start = Date.UTC(2031, 4, 12, 12);
const down: Trouble = { kind: 'down', cause: 'routes_out' };
const slow: Trouble = { kind: 'degraded', cause: 'slow' };
const second = 1_000;
const minute = 60 * second;

/** Watches a model: what was wrong from which second on, observed every 15 seconds until the last second. */
function watch(changes: Record<number, Trouble | undefined>, until: number) {
  let current: Incident | undefined;
  let made = 0;
  const ended: Incident[] = [];
  let trouble: Trouble | undefined;
  for (let at = 0; at <= until; at += 15) {
    if (at in changes) trouble = changes[at];
    current = follow('dp/a', current, { at: start + at * second, trouble, answered: undefined }, () => `${++made}`);
    if (current?.endedAt !== undefined) {
      ended.push(current);
      current = undefined;
    }
  }
  return { current, ended, made };
}

const after = (seconds: number) => start + seconds * second;

function observe(current: Incident | undefined, at: number, answered: number | undefined): Incident | undefined {
  return follow('dp/a', current, { at: after(at), trouble: slow, answered }, () => '1');
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
    const began = follow('dp/a', undefined, { at: after(0), trouble: down, answered: undefined }, () => '1');
    const seen = follow('dp/a', began, { at: at(15), trouble: down, answered: undefined }, () => '2');
    const opened = follow('dp/a', seen, { at: at(45), trouble: down, answered: undefined }, () => '2');
    expect(opened).toMatchObject({ id: '1', openedAt: at(45) });
    const calm = follow('dp/a', opened, { at: after(60), trouble: undefined, answered: undefined }, () => '2');
    const still = follow('dp/a', calm, { at: at(75), trouble: undefined, answered: undefined }, () => '2');
    const over = follow('dp/a', still, { at: at(75 + 300), trouble: undefined, answered: undefined }, () => '2');
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
    const late = { at: after(60) + 10 * minute + 1, trouble: down, answered: undefined };
    expect(follow('dp/a', current, late, () => '2')).toMatchObject({ id: '1', endedAt: after(60) });
    expect(follow('dp/a', current, { ...late, at: late.at - 1 }, () => '2')).toMatchObject({ endedAt: undefined });
  });

  it('ends with its model', () => {
    const { current } = watch({ 0: down }, 60);
    expect(abandon(current as Incident)).toMatchObject({ endedAt: after(60) });
    expect(abandon(watch({ 0: down }, 15).current as Incident)).toBeUndefined();
  });
});
