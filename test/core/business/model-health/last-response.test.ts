import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { updateIncident, type Incident, getRememberedFailure } from '#core/business/model-health/incident.ts';
import {
  assess,
  type Assessment,
  noTraffic,
  type RecentTraffic,
  trafficWindowMs,
} from '#core/business/model-health/trouble.ts';

/*
 * A model whose last request was answered is not in trouble for long: the property over any order of requests and looks. Looks are those
 * of the job, which keeps an incident, also over restarts, and those of pages, which keep nothing.
 */

interface Request {
  readonly at: number; // epoch ms
  readonly isServed: boolean;
  readonly account: number;
}

const start = Date.UTC(2031, 4, 12, 12);
const second = 1_000;
/** Ms between two looks of the job. */
const interval = 15 * second;

/** What the records of the last minutes say, as `readRecentTraffic` counts them. */
function trafficAt(now: number, requests: readonly Request[]): RecentTraffic {
  const recent = requests.filter(({ at }) => at <= now && at >= now - trafficWindowMs);
  const failed = recent.filter(({ isServed }) => !isServed);
  const served = recent.filter(({ isServed }) => isServed);
  const [lastFailedAt, lastServedAt] = [failed, served].map((some) => some.at(-1)?.at);
  return {
    ...noTraffic,
    answered: served.length,
    failed: failed.length,
    failedAccounts: new Set(failed.map(({ account }) => account)).size,
    failedInRow: failed.filter(({ at }) => at > (lastServedAt ?? 0)).length,
    servedInRow: served.filter(({ at }) => at > (lastFailedAt ?? 0)).length,
    lastFailedAt,
    lastServedAt,
  };
}

/** Looks as the job and as pages do. @returns what each saw, by time */
function look(requests: readonly Request[], until: number, pages: readonly number[]) {
  const seen: { readonly at: number; readonly assessment: Assessment }[] = [];
  let current: Incident | undefined;
  const times = [...pages, ...Array.from({ length: Math.floor(until / interval) }, (_, index) => index * interval)];
  for (const offset of times.toSorted((one, other) => one - other)) {
    const at = start + offset;
    const assessment = assess(['available'], trafficAt(at, requests), undefined, getRememberedFailure(current), at);
    seen.push({ at, assessment });
    if (offset % interval !== 0) continue;
    current = updateIncident('dp/a', current, { at, ...assessment, answered: undefined }, () => '1');
    if (current?.endedAt !== undefined) current = undefined;
  }
  return seen;
}

/** Requests a bit apart, none in the same millisecond. */
const requests = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 200 }),
      isServed: fc.boolean(),
      account: fc.integer({ min: 1, max: 3 }),
    }),
    {
      minLength: 1,
      maxLength: 60,
    },
  )
  .map((steps) => {
    let at = start;
    return steps.map(({ gap, isServed, account }) => ({ at: (at += gap * 100 + 1), isServed, account }));
  });

describe('a model whose last request was answered', () => {
  it('is without trouble once its failures have left the traffic, whatever order of requests came before', () => {
    fc.assert(
      fc.property(requests, fc.array(fc.integer({ min: 1, max: 40 * 60 }), { maxLength: 20 }), (before, pages) => {
        const last = before.at(-1)?.at ?? start;
        const all = [...before, { at: last + 1, isServed: true, account: 1 }];
        const clear = last + trafficWindowMs + interval;
        const seen = look(
          all,
          clear - start + 30 * 60 * second,
          pages.map((page) => page * second + 1),
        );
        const later = seen.filter(({ at }) => at >= clear);
        expect(later.length).toBeGreaterThan(100);
        expect(later.filter(({ assessment }) => assessment.trouble !== undefined)).toEqual([]);
      }),
    );
  });

  it('is without trouble five minutes after a short failure that was over before the first look', () => {
    const failed = [0, 1, 2, 3].map((n) => ({ at: start + 1_000 + n, isServed: false, account: n % 2 }));
    const served = [0, 1, 2].map((n) => ({ at: start + 2_500 + n, isServed: true, account: 1 }));
    const states = look([...failed, ...served], 60 * 60 * second, []).map(({ at, assessment: { trouble } }) => [
      at - start,
      trouble?.cause,
    ]);
    const troubled = states.filter(([, cause]) => cause !== undefined).map(([at]) => Number(at));
    expect(Math.max(...troubled)).toBeLessThanOrEqual(trafficWindowMs + interval);
    expect(troubled).toEqual(Array.from(troubled, (_, index) => (index + 1) * interval));
  });
});

describe('a model whose last request failed', () => {
  it('stays in trouble until it responds, whatever order of requests came before', () => {
    fc.assert(
      fc.property(requests, (before) => {
        const last = before.at(-1)?.at ?? start;
        const all = [...before, ...[1, 2, 3].map((n) => ({ at: last + n, isServed: false, account: n }))];
        const seen = look(all, last - start + 60 * 60 * second, []).filter(({ at }) => at >= last + trafficWindowMs);
        const first = trafficAt(last + 3, all);
        fc.pre(first.failedInRow >= 3 && first.failed >= 3 && first.answered + first.failed < 20);
        expect(seen.every(({ assessment }) => assessment.trouble !== undefined)).toBe(true);
      }),
    );
  });
});
