import { describe, expect, it } from 'vitest';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { answeredShare, availabilityOf, findTrouble, type RecentTraffic } from '#core/business/model-health/trouble.ts';

const now = Date.UTC(2031, 4, 12, 12);

function traffic(counts: Partial<RecentTraffic>): RecentTraffic {
  return { answered: 0, failed: 0, firstTokenMs: undefined, timed: 0, ...counts };
}

function status(state: RouteStatus['state'], openUntil: number | null = null): RouteStatus {
  const until = openUntil === null ? null : new Date(openUntil).toISOString();
  return { route: 'x/a', state, open_until: until, reason: null };
}

function answers(firstTokenMs: number, timed = 10): RecentTraffic {
  return traffic({ answered: 50, firstTokenMs, timed });
}

describe('the trouble of a model', () => {
  it('is not reported while a backup route answers every request', () => {
    expect(findTrouble(['out', 'available'], traffic({ answered: 500 }), undefined)).toBeUndefined();
  });

  it('is that it is down when every route is out', () => {
    expect(findTrouble(['out', 'out'], undefined, undefined)).toEqual({ kind: 'down', cause: 'routes_out' });
  });

  it('is that it is degraded while its only route is probed', () => {
    expect(findTrouble(['probing'], undefined, undefined)).toEqual({ kind: 'degraded', cause: 'recovering' });
  });

  it('is that it is down when half of its requests fail, whatever breakers say', () => {
    const failing = { kind: 'down', cause: 'failing' };
    expect(findTrouble(['available'], traffic({ answered: 5, failed: 5 }), undefined)).toEqual(failing);
    expect(findTrouble(['available'], traffic({ answered: 6, failed: 5 }), undefined)).not.toEqual(failing);
  });

  it('is not found in a few requests', () => {
    expect(findTrouble(['available'], traffic({ failed: 4 }), undefined)).toBeUndefined();
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
    expect(availabilityOf(status('open', now + 5_000), now)).toBe('out');
    expect(availabilityOf(status('no_model', now + 5_000), now)).toBe('out');
  });

  it('counts as available when it had no request for minutes after its cooldown', () => {
    expect(availabilityOf(status('half_open', now - 299_000), now)).toBe('probing');
    expect(availabilityOf(status('half_open', now - 300_000), now)).toBe('available');
  });

  it('is available where nothing is known of it', () => {
    expect(availabilityOf(undefined, now)).toBe('available');
  });
});

describe('the share of answered requests', () => {
  it('is unknown below ten requests', () => {
    expect(answeredShare(traffic({ answered: 8, failed: 1 }))).toBeUndefined();
    expect(answeredShare(traffic({ answered: 8, failed: 2 }))).toBe(0.8);
    expect(answeredShare(undefined)).toBeUndefined();
  });
});
