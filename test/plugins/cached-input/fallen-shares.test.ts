import { describe, expect, it } from 'vitest';
import { type CallCounts, findFallenShares, type PeriodCounts } from '../../../plugins/cached-input/fallen-shares.ts';

interface Call {
  readonly route?: string;
  readonly model?: string;
  readonly client?: string;
  readonly calls?: number;
  readonly cached?: number;
  /** Millions of input tokens. */
  readonly input?: number;
  readonly share: number;
}

function times(...calls: readonly Call[]): PeriodCounts {
  const rows = calls.map(
    ({
      route = 'a/x',
      model = 'dp/x',
      client = 'codex',
      calls: answered = 300,
      cached = 0,
      input = 3,
      share,
    }): CallCounts => ({
      route,
      model,
      client,
      counts: {
        answered,
        cached,
        inputTokens: input * 1_000_000,
        cacheReadTokens: share * input * 1_000_000,
        cacheWriteTokens: 0,
      },
    }),
  );
  return { byRoute: rows, byClient: rows };
}

const namesOf = (week: PeriodCounts, day: PeriodCounts) =>
  findFallenShares(week, day).map(({ of, name }) => `${of} ${name}`);

describe('the share of input from caches of vendors', () => {
  it('that falls by 15 points is a problem of its route, with both shares', () => {
    expect(findFallenShares(times({ share: 0.9 }), times({ share: 0.75 }))).toEqual([
      { of: 'route', name: 'a/x', before: 0.9, now: 0.75, lostTokens: 450_000 },
    ]);
    expect(findFallenShares(times({ share: 0.9 }), times({ share: 0.751 }))).toEqual([]);
  });

  it.each([
    ['199 calls in the week', { calls: 199, share: 0.9 }, { share: 0.1 }],
    ['199 calls in the day', { share: 0.9 }, { calls: 199, share: 0.1 }],
    ['calls that the cache of the gateway answered', { share: 0.9 }, { calls: 300, cached: 101, share: 0.1 }],
    ['less than 2 million tokens in the week', { input: 1.9, share: 0.9 }, { share: 0.1 }],
    ['less than 2 million tokens in the day', { share: 0.9 }, { input: 1.9, share: 0.1 }],
  ])('says nothing with %s', (_title, week: Call, day: Call) => {
    expect(findFallenShares(times(week), times(day))).toEqual([]);
  });

  it('that falls because calls move to a route that caches less is a problem of the model', () => {
    const week = times({ share: 0.9, calls: 3_000, input: 30 }, { route: 'b/x', share: 0.2 });
    const day = times({ share: 0.9 }, { route: 'b/x', share: 0.2, calls: 3_000, input: 30 });
    expect(namesOf(week, day)).toEqual(['model dp/x']);
  });

  it('that falls with one client alone is a problem of the client', () => {
    const others = { calls: 5_000, input: 50, share: 0.9 };
    const week = times(others, { client: 'pi', share: 0.9 });
    const day = times(others, { client: 'pi', share: 0.1 });
    expect(namesOf(week, day)).toEqual(['client pi']);
  });

  it('of one route does not make its models and clients problems too', () => {
    const fine = { route: 'b/y', model: 'dp/y', client: 'pi', share: 0.9 };
    expect(namesOf(times({ share: 0.9 }, fine), times({ share: 0.1 }, fine))).toEqual(['route a/x']);
  });

  it('is reported with the largest loss first', () => {
    const week = times({ share: 0.9 }, { route: 'b/y', model: 'dp/y', client: 'pi', share: 0.9, input: 9 });
    const day = times({ share: 0.1 }, { route: 'b/y', model: 'dp/y', client: 'pi', share: 0.1, input: 9 });
    expect(namesOf(week, day)).toEqual(['route b/y', 'route a/x']);
  });
});
