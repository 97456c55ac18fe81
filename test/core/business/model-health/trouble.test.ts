import { describe, expect, it } from 'vitest';
import {
  computeAnsweredShare,
  assess,
  availabilityOf,
  findTrouble,
  noTraffic,
  type RecentTraffic,
} from '#core/business/model-health/trouble.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';

const now = Date.UTC(2031, 4, 12, 12);

function traffic(counts: Partial<RecentTraffic>): RecentTraffic {
  const { answered = 0, failed = 0 } = counts;
  // The failures came first, unless told otherwise.
  return {
    ...noTraffic,
    servedInRow: answered,
    ...(answered > 0 && { lastServedAt: now }),
    failedAccounts: Math.min(failed, 1),
    ...counts,
  };
}

function status(state: RouteStatus['state'], openUntil: number | null = null): RouteStatus {
  const until = openUntil === null ? null : new Date(openUntil).toISOString();
  return { route: 'x/a', state, open_until: until, reason: null };
}

function answers(firstTokenMs: number, timed = 10): RecentTraffic {
  return traffic({ answered: 50, firstTokenMs, timed });
}

/** The trouble that requests show which all failed. */
function few(failed: number, failedAccounts: number) {
  return findTrouble(['available'], traffic({ failed, failedInRow: failed, failedAccounts }), undefined);
}

/** The trouble that failures show after nine answers. */
function end(failed: number) {
  return findTrouble(['available'], traffic({ answered: 9, failed, servedInRow: 0, failedInRow: failed }), undefined);
}

/** The trouble that remains when answers follow failures. */
function after(failed: number, answered: number) {
  return findTrouble(['available'], traffic({ failed, answered, failedAccounts: 2 }), undefined);
}

describe('the trouble of a model', () => {
  it('is not reported while a backup route answers every request', () => {
    expect(findTrouble(['out', 'available'], traffic({ answered: 500 }), undefined)).toBeUndefined();
  });

  it('is that it is down when every route is out', () => {
    expect(findTrouble(['out', 'out'], undefined, undefined)).toEqual({ kind: 'down', cause: 'routes_out' });
  });

  it('is that it is down while its only route is half-open, which time alone does', () => {
    expect(findTrouble(['unproven'], undefined, undefined)).toEqual({ kind: 'down', cause: 'routes_out' });
    expect(findTrouble(['unproven', 'available'], undefined, undefined)).toBeUndefined();
  });

  it('is that it is down when half of its requests fail, whatever breakers say', () => {
    const failing = { kind: 'down', cause: 'failing' };
    const mixed = { servedInRow: 0 };
    expect(findTrouble(['available'], traffic({ answered: 5, failed: 5, ...mixed }), undefined)).toEqual(failing);
    expect(findTrouble(['available'], traffic({ answered: 6, failed: 5, ...mixed }), undefined)).not.toEqual(failing);
  });

  it('in a few requests that all failed is never nothing: down where two accounts saw three, else degraded', () => {
    expect(few(3, 2)).toEqual({ kind: 'down', cause: 'failing' });
    for (const [failed, accounts] of [
      [1, 1],
      [2, 2],
      [3, 1],
      [9, 1],
    ] as const)
      expect(few(failed, accounts)).toEqual({ kind: 'degraded', cause: 'last_failed' });
    expect(few(10, 1)).toEqual({ kind: 'down', cause: 'failing' });
  });

  it('is not one failure among a few answers, but is several at the end', () => {
    expect(end(1)).toBeUndefined();
    expect(end(2)).toEqual({ kind: 'degraded', cause: 'last_failed' });
  });

  it('is a recovery once a tenth as many answers have followed most failures', () => {
    expect(after(3, 1)).toEqual({ kind: 'degraded', cause: 'recovering' });
    expect(after(100, 9)).toEqual({ kind: 'down', cause: 'failing' });
    expect(after(100, 10)).toEqual({ kind: 'degraded', cause: 'recovering' });
    expect(after(1, 1)).toBeUndefined();
  });

  it('begins at 5 % failures, and at 1 % while a route is out', () => {
    const degraded = { kind: 'degraded', cause: 'failing' };
    expect(findTrouble(['available'], traffic({ answered: 95, failed: 5 }), undefined)).toEqual(degraded);
    expect(findTrouble(['available'], traffic({ answered: 196, failed: 4 }), undefined)).toBeUndefined();
    expect(findTrouble(['out', 'available'], traffic({ answered: 196, failed: 4 }), undefined)).toEqual(degraded);
  });

  it('is slowness at twice the usual first token, by half a second at least', () => {
    const slow = { kind: 'degraded', cause: 'slow' };
    expect(findTrouble(['available'], answers(1_400), 700)).toEqual(slow);
    expect(findTrouble(['available'], answers(1_399), 700)).toBeUndefined();
    expect(findTrouble(['available'], answers(400), 100)).toBeUndefined();
    expect(findTrouble(['available'], answers(1_400, 9), 700)).toBeUndefined();
    expect(findTrouble(['available'], answers(1_400), undefined)).toBeUndefined();
  });
});

describe('a route', () => {
  it('is out while its breaker is open, and where it does not have the model', () => {
    expect(availabilityOf(status('open', now + 5_000))).toBe('out');
    expect(availabilityOf(status('no_model', now + 5_000))).toBe('out');
  });

  it('is unproven after its cooldown, however long that is ago', () => {
    expect(availabilityOf(status('half_open', now - 3_000_000))).toBe('unproven');
  });

  it('is available where nothing is known of it', () => {
    expect(availabilityOf(undefined)).toBe('available');
  });
});

describe('the share of answered requests', () => {
  it('is unknown below ten requests', () => {
    expect(computeAnsweredShare(traffic({ answered: 8, failed: 1 }))).toBeUndefined();
    expect(computeAnsweredShare(traffic({ answered: 8, failed: 2 }))).toBe(0.8);
    expect(computeAnsweredShare(undefined)).toBeUndefined();
  });
});

describe('a model that has failed', () => {
  const minute = 60_000;
  const remembered = { kind: 'down', cause: 'failing', failedAt: now - 6 * minute } as const;
  const trouble = { kind: 'down', cause: 'failing' };

  it('is in trouble as before until a route has responded, whatever time passes', () => {
    const silent = assess(['available'], noTraffic, undefined, remembered, now);
    expect(silent).toMatchObject({ trouble, isRemembered: true, isQuiet: false, failedAt: remembered.failedAt });
    const cached = traffic({ answered: 5, lastServedAt: undefined, servedInRow: 0 });
    expect(assess(['available'], cached, undefined, remembered, now).trouble).toEqual(trouble);
    const early = traffic({ answered: 1, lastServedAt: remembered.failedAt - 1 });
    expect(assess(['available'], early, undefined, remembered, now).trouble).toEqual(trouble);
    const served = traffic({ answered: 1, lastServedAt: now - 1 });
    expect(assess(['available'], served, undefined, remembered, now)).toMatchObject({
      trouble: undefined,
      isQuiet: false,
    });
  });

  it('stays down while only a few failures are left in sight, until a route has responded', () => {
    const last = traffic({ failed: 2, failedInRow: 2 });
    expect(assess(['available'], last, undefined, remembered, now)).toMatchObject({ trouble, isRemembered: true });
    const served = traffic({ failed: 2, answered: 1, failedInRow: 0, lastServedAt: now });
    expect(assess(['available'], served, undefined, remembered, now).trouble).not.toEqual(trouble);
  });

  it('is down where a probe of every route has failed as well, unless a route has responded since', () => {
    const confirmed = { kind: 'degraded', cause: 'last_failed', failedAt: now - minute, confirmedAt: now - 1 } as const;
    const last = traffic({ failed: 3, failedInRow: 3, failedAccounts: 1 });
    expect(assess(['available'], last, undefined, confirmed, now).trouble).toEqual(trouble);
    expect(assess(['available'], noTraffic, undefined, confirmed, now).trouble).toEqual(trouble);
    const served = traffic({ failed: 3, answered: 1, failedInRow: 3, lastServedAt: now });
    expect(assess(['available'], served, undefined, confirmed, now).trouble).not.toEqual(trouble);
    const future = { ...confirmed, confirmedAt: now + 60 * minute };
    const failing = { ...served, servedInRow: 0 };
    expect(assess(['available'], failing, undefined, future, now).trouble).not.toEqual(trouble);
    const slow = { ...confirmed, cause: 'slow' } as const;
    expect(assess(['available'], noTraffic, undefined, slow, now).trouble).toMatchObject({ kind: 'degraded' });
  });

  it('is quiet after a quarter of an hour without requests, unless its routes take none', () => {
    const old = { ...remembered, failedAt: now - 15 * minute };
    expect(assess(['available'], noTraffic, undefined, old, now)).toMatchObject({ trouble, isQuiet: true });
    expect(assess(['unproven'], noTraffic, undefined, old, now).isQuiet).toBe(true);
    expect(assess(['out'], noTraffic, undefined, old, now).isQuiet).toBe(false);
    expect(assess(['available'], noTraffic, undefined, { ...old, failedAt: old.failedAt + 1 }, now).isQuiet).toBe(
      false,
    );
    expect(assess(['available'], traffic({ failed: 1, failedInRow: 1 }), undefined, old, now).isQuiet).toBe(false);
    expect(assess(['unproven'], undefined, undefined, undefined, now)).toMatchObject({ isQuiet: false });
  });
});
