import { describe, expect, it } from 'vitest';
import type { UsageRow } from '../../../../plugins/dashboard/home/account-usage.ts';
import { describeFigures, describeRate } from '../../../../plugins/dashboard/home/describe-tiles.ts';
import { sumHours, sumModels } from '../../../../plugins/dashboard/home/sum-usage.ts';
import { now, reader, row, thisHour } from './fixture.ts';

function figures(rows: readonly UsageRow[], language: 'en' | 'id' = 'en') {
  const [requests, errors, firstToken] = describeFigures(sumHours(rows, 48, now), now, reader(language));
  return { requests, errors, firstToken };
}

describe('the figures of 24 hours', () => {
  it('count requests and errors of all models, the running hour included', () => {
    const rows = [row(0, { requests: 900, errors: 10 }), row(23, { requests: 384, errors: 8, model: null })];
    const { requests, errors } = figures([...rows, row(24, { requests: 5_000, errors: 5_000 })]);
    expect(requests?.value).toBe('1,284');
    expect(errors).toMatchObject({ value: '1.4%', note: '18 of 1,284' });
  });

  it.each([
    ['12.0% more than yesterday', 112],
    ['50.0% less than yesterday', 50],
    ['As many as yesterday', 100],
    // Eleven times as many is no percentage that anybody reads.
    ['', 1_100],
  ])('are compared with the day before: "%s"', (note, requests) => {
    expect(figures([row(1, { requests }), row(25, { requests: 100 })]).requests?.note).toBe(note);
  });

  it.each([
    [0, 1, '1 the day before'],
    [2, 1, '1 the day before'],
    [38, 19, '19 the day before'],
  ])('say of few requests how many there were before: %i after %i', (requests, before, note) => {
    expect(figures([row(1, { requests }), row(25, { requests: before })]).requests?.note).toBe(note);
  });

  it('name the day on which they begin', () => {
    expect(figures([])).toMatchObject({
      requests: { label: 'Requests since yesterday 10:00' },
      errors: { label: 'Errors since yesterday 10:00' },
    });
    expect(figures([], 'id').requests?.label).toBe('Request sejak kemarin 10.00');
  });

  it('compare the running hour with as much of that hour yesterday', () => {
    expect(figures([row(0, { requests: 50 }), row(24, { requests: 100 })]).requests?.note).toBe('As many as yesterday');
  });

  it('compare with no yesterday in which nothing was sent', () => {
    expect(figures([row(1, { requests: 100 })]).requests?.note).toBe('');
  });

  it('show the median and the slow end of the time to first token', () => {
    // Bucket 44 ends at 663 ms, bucket 56 at 2.08 s.
    const { firstToken } = figures([
      row(2, {
        requests: 100,
        firstContent: [
          [44, 90],
          [56, 10],
        ],
      }),
    ]);
    expect(firstToken).toMatchObject({ value: '0.63', unit: 's' });
    expect(firstToken?.note).toMatch(/^95% under 1\.98.s$/);
  });

  it('name no slow end of a few answers', () => {
    const { firstToken } = figures([row(2, { requests: 1, firstContent: [[44, 1]] })]);
    expect(firstToken).toMatchObject({ value: '0.63', note: 'Of 1 answer' });
  });

  it('are dashes and zeros before the first request', () => {
    const { requests, errors, firstToken } = figures([]);
    expect([requests?.value, errors?.value, firstToken?.value]).toEqual(['0', '—', '—']);
    expect([requests?.spark.line, errors?.spark.line, firstToken?.spark.line]).toEqual(['', '', '']);
  });

  it('are written as the language does', () => {
    expect(figures([row(0, { requests: 1_284, errors: 18 })], 'id').errors).toMatchObject({
      value: '1,4%',
      note: '18 dari 1.284',
    });
  });
});

describe('the rate limit', () => {
  const allowance = {
    limit: 60,
    period: 60,
    burst: 60,
    remaining: 42,
    resetAfter: 22.4,
    running: 2,
    concurrent: 8,
  };

  it('says what is left, when all of it is back, and what is in flight', () => {
    expect(describeRate(allowance, '', reader())).toMatchObject({
      label: 'Rate limit, this minute',
      value: '42',
      unit: 'of 60 left',
      meter: { max: 60, value: 18 },
      text: expect.stringMatching(/^Resets in 23(\.0)?.s · 2 of 8 running$/),
    });
  });

  it('names the rate where fewer may be sent at once', () => {
    const { label, unit, text } = describeRate({ ...allowance, burst: 20, resetAfter: 0 }, '', reader());
    expect([label, unit, text]).toEqual([
      'Rate limit, 60 a minute',
      'of a burst of 20 available now',
      '2 of 8 running',
    ]);
  });

  it.each([
    [1, 'Rate limit, 60 a second'],
    [3_600, 'Rate limit, 60 an hour'],
    [90, 'Rate limit, 60 in 90 s'],
  ])('of a period of %d s is "%s"', (period, label) => {
    expect(describeRate({ ...allowance, period }, '', reader()).label).toBe(label);
  });
});

it('the tiles rank models by their requests in the range, those without a model included, so that they add up', () => {
  const rows = [
    row(0, { requests: 5, model: 'dp/two' }),
    row(1, { requests: 4 }),
    row(3, { requests: 4 }),
    row(2, { requests: 50, model: null }),
    row(30, { requests: 90, model: 'dp/old' }),
  ];
  expect(sumModels(rows, thisHour - 23 * 3_600_000)).toEqual([
    { name: null, requests: 50 },
    { name: 'dp/one', requests: 8 },
    { name: 'dp/two', requests: 5 },
  ]);
});
