import { expect, it } from 'vitest';
import { joinDays } from '../../../plugins/operator/readings.ts';
import { parseSpan, splitDays } from '../../../plugins/operator/span.ts';

const dayOf = (day: string, requests = 0) => ({ day, requests, answered: 0, failed: 0, failovers: 0 });

it('a span compares today with yesterday, and more days with as many before them', () => {
  const days = Array.from({ length: 60 }, (_, index) => index);
  expect(splitDays(days, 'today')).toEqual({ now: [59], before: [58] });
  expect(splitDays(days, '7d')).toEqual({ now: days.slice(53), before: days.slice(46, 53) });
  expect(splitDays(days, '30d')).toEqual({ now: days.slice(30), before: days.slice(0, 30) });
});

it('the span is today where the address names no span, or one that does not exist', () => {
  for (const query of [{}, { span: 'today' }, { span: 'constructor' }]) expect(parseSpan({ query })).toBe('today');
  expect(parseSpan({ query: { span: '7d' } })).toBe('7d');
});

it('a span takes each day once, the recent ones from their newer reading', () => {
  const past = [dayOf('2031-05-10', 5), dayOf('2031-05-11', 6), dayOf('2031-05-12', 1)];
  // Past midnight, the older reading ends a day early.
  const recent = [dayOf('2031-05-12', 9), dayOf('2031-05-13', 2)];
  expect(joinDays(recent, past).map(({ day, requests }) => [day, requests])).toEqual([
    ['2031-05-10', 5],
    ['2031-05-11', 6],
    ['2031-05-12', 9],
    ['2031-05-13', 2],
  ]);
});
