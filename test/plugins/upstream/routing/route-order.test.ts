import { describe, expect, it } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import { RetryBudget } from '../../../../plugins/upstream/routing/allowance.ts';
import { orderRoutes } from '../../../../plugins/upstream/routing/route-order.ts';
import { routeTo, upstreamAt } from '../fixture.ts';

const route = (name: string, priority: number, weight = 1): Route =>
  routeTo(upstreamAt('http://x', { name }), { priority, weight });
const namesOf = (routes: readonly Route[]) => routes.map(({ upstream }) => upstream.name).join('');
const first = (among: readonly Route[], session: string) => namesOf(orderRoutes(among, session))[0];

describe('routes', () => {
  it('are tried by priority', () => {
    expect(namesOf(orderRoutes([route('c', 2), route('a', 0), route('b', 1)], undefined))).toBe('abc');
  });

  it('of the same priority share requests by weight', () => {
    const routes = [route('a', 0, 3), route('b', 0, 1)];
    const firsts = Array.from({ length: 4_000 }, () => namesOf(orderRoutes(routes, undefined))[0]);
    expect(firsts.filter((name) => name === 'a').length / 4_000).toBeCloseTo(0.75, 1);
  });

  it('of the same priority share sessions by weight', () => {
    const routes = [route('a', 0, 3), route('b', 0, 1)];
    const firsts = Array.from({ length: 4_000 }, (_, session) => namesOf(orderRoutes(routes, `s${session}`))[0]);
    expect(firsts.filter((name) => name === 'a').length / 4_000).toBeCloseTo(0.75, 1);
  });

  it('are the same for the same session', () => {
    const routes = ['a', 'b', 'c', 'd'].map((name) => route(name, 0));
    expect(new Set(Array.from({ length: 50 }, () => namesOf(orderRoutes(routes, 'session')))).size).toBe(1);
  });

  it('keep most sessions when one of them goes', () => {
    const routes = ['a', 'b', 'c', 'd'].map((name) => route(name, 0));
    const sessions = Array.from({ length: 400 }, (_, index) => `s${index}`).filter((s) => first(routes, s) !== 'd');
    expect(sessions.every((s) => first(routes.slice(0, 3), s) === first(routes, s))).toBe(true);
  });

  it('without weight come last among equals', () => {
    expect(namesOf(orderRoutes([route('a', 0, 0), route('b', 0)], 'session'))).toBe('ba');
  });
});

describe('the budget of retries', () => {
  it('has a reserve for a quiet gateway, and no more than that', () => {
    const budget = new RetryBudget(0.1);
    expect(Array.from({ length: 25 }, () => budget.takeRetry()).filter(Boolean)).toHaveLength(20);
  });

  it('grows by a share of every request', () => {
    const budget = new RetryBudget(0.1);
    while (budget.takeRetry());
    for (let request = 0; request < 101; request++) budget.creditRequest();
    expect(Array.from({ length: 25 }, () => budget.takeRetry()).filter(Boolean)).toHaveLength(10);
  });
});
