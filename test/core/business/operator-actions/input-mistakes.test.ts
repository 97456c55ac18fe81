import { describe, expect, it } from 'vitest';
import { text, time } from '#core/business/operator-actions/action-kind.ts';
import { getCoreAction } from '#core/business/operator-actions/actions.ts';
import { describeMistakes } from '#core/business/operator-actions/input-mistakes.ts';
import { integer, object } from '#core/platform/schema.ts';

const refund = getCoreAction('order.refund').input;
const publish = object(['audience'], { audience: { enum: ['all', 'customers'] } });

describe('the input of an action', () => {
  it.each([
    [
      'a misspelled member',
      refund,
      { note: 'x', day_back: 'none' },
      '"day_back" is not a known key; did you mean "days_back"?',
    ],
    ['a misspelled required member', refund, { notes: 'x' }, '"notes" is not a known key; did you mean "note"?'],
    ['a missing member', refund, {}, /^"note" is missing; add it: .+\.$/],
    ['a number as a text', refund, { note: 'x', amount: '18000' }, /^"amount" is "18000"; must be an? .*: 18000\.$/],
    ['a number that is too small', refund, { note: 'x', amount: 0 }, '"amount" is 0; must be at least 1.'],
    ['a control character', refund, { note: 'x\u001b[2Jy' }, '"note" has control characters; leave them out.'],
    [
      'a line break where a line is meant',
      object({ label: text('Its name.') }),
      { label: 'x\ny' },
      '"label" has control characters; leave them out.',
    ],
    ['an empty text', refund, { note: '' }, '"note" is empty; needs at least 1.'],
    [
      'a misspelled choice',
      publish,
      { audience: 'customer' },
      '"audience" is "customer"; did you mean "customers"? Allowed: all, customers.',
    ],
    ['another choice', publish, { audience: 'everybody' }, '"audience" is "everybody"; use one of: all, customers.'],
  ])('with %s is described as a person would', (_name, schema, input, message) => {
    expect(describeMistakes(schema, input)).toMatch(message);
    if (typeof message === 'string') expect(describeMistakes(schema, input)).toBe(message);
  });

  it.each([
    '2026-13-01T00:00Z',
    '2026-02-30T00:00Z',
    '2026-01-01T24:30Z',
    '2026-01-01T00:00+24:00',
    '0000-01-01T00:00Z',
    '0001-01-01T00:00+07:00',
    '9999-12-31T23:59-07:00',
    '2026-01-01T00:00',
  ])('with a time that does not exist is described: %s', (since) => {
    expect(describeMistakes(object({ since: time }), { since })).toBe(
      `"since" is "${since}"; expected: RFC 3339, with the zone, such as 2026-11-22T20:00+07:00.`,
    );
  });

  it.each(['2026-11-22T20:00+07:00', '2028-02-29T23:59:59.999Z', '0001-01-01T00:00Z'])(
    'may have any time that exists: %s',
    (since) => expect(describeMistakes(object({ since: time }), { since })).toBeUndefined(),
  );

  it('is valid without a description', () => {
    expect(describeMistakes(refund, { note: 'x', amount: 1 })).toBeUndefined();
    expect(describeMistakes(refund, { note: 'one line\r\n\tand another' })).toBeUndefined();
  });

  it('with very many or very long mistakes is described in short', () => {
    const input = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${'x'.repeat(300)}${index}`, 1]));
    const message = describeMistakes(object({ days: integer({}, 'Days.') }), input) ?? '';
    expect(message.length).toBeLessThan(1_000);
    expect(message).toMatch(/ 495 more mistakes in the input\.$/);
  });
});
