import { describe, expect, it } from 'vitest';
import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { determinePass } from '#core/business/accounts/pass-state.ts';
import type { Order } from '#core/business/payments/order.ts';
import {
  describeGrant,
  describeOrder,
  describePass,
  describeReminder,
} from '../../../../plugins/dashboard/home/describe-pass.ts';
import { hour, now, reader } from './fixture.ts';

/** An account with periods, each from and to so many hours from now. */
function account(...periods: readonly (readonly [from: number, to: number])[]): AccountRecord {
  const dated = periods.map(([from, to]) => ({
    startsAt: new Date(now + from * hour),
    endsAt: new Date(now + to * hour),
    label: 'test',
    limits: undefined,
  }));
  return { periods: dated } as unknown as AccountRecord;
}

const pass = (owner: AccountRecord, language: 'en' | 'id' = 'en') =>
  describePass(determinePass(owner, now), now, reader(language)) as Record<string, unknown> & {
    remaining?: { text: string };
    ticks: { used: string; left: string };
  };
const reminder = (owner: AccountRecord) => describeReminder(determinePass(owner, now), now, '/buy', reader());

describe('a pass', () => {
  it('counts down to the end of the last adjacent period', () => {
    const { remaining, label, left } = pass(account([-72, 96], [96, 264]));
    expect(label).toBe('14‑day pass · time left');
    expect([remaining?.text, left]).toEqual(['11 d 00:00:00', 264 * hour]);
  });

  it('is written in Indonesian', () => {
    expect(pass(account([-24, 24]), 'id')['label']).toBe('Paket 2 hari · sisa masa aktif');
  });

  it.each([
    ['has ended', account([-72, -48]), 'No active pass'],
    ['was never bought', account(), 'No active pass'],
    ['begins later', account([24, 48]), 'No active pass'],
  ])('that %s has a title instead of a countdown, and used ticks alone', (_, owner, title) => {
    const { remaining, ticks, ...rest } = pass(owner);
    expect(remaining).toBeUndefined();
    expect(rest['title']).toBe(title);
    expect(ticks.left).toBe('');
  });

  it('that begins later says when', () => {
    expect(pass(account([24, 48]))['starts']).toMatchObject({
      label: 'Starts',
      text: expect.stringContaining('23 Nov'),
    });
  });
});

describe('the reminder', () => {
  it.each([
    [24.1, undefined],
    [23.9, 'Your pass ends in 23 hours.'],
    [1, 'Your pass ends in 1 hour.'],
    [0.5, 'Your pass ends in 30 minutes.'],
    [0.001, 'Your pass ends in 1 minute.'],
  ])('%d hours before the end is: %s', (left, title) => {
    expect(reminder(account([-100, left]))?.title).toBe(title);
  });

  it('comes in the last quarter of a short pass', () => {
    expect(reminder(account([-1, 23]))).toBeUndefined();
    expect(reminder(account([-18.1, 5.9]))?.title).toBe('Your pass ends in 5 hours.');
  });

  it('says since when the pass has ended', () => {
    expect(reminder(account([-72, -48]))).toMatchObject({
      kind: 'bad',
      title: expect.stringMatching(/^Your pass ended .*20 Nov/),
    });
  });

  it.each([
    ['order', 'Your order was refunded.'],
    ['gift', 'The gift that gave you your days was refunded to its giver.'],
  ] as const)('says that the %s was refunded, and asks for no renewal', (refunded, text) => {
    const ended = describeReminder(determinePass(account([-72, -48]), now), now, '/buy', reader(), refunded);
    expect(ended?.text).toMatch(new RegExp(`^${text}`));
    expect(ended?.text).not.toMatch(/renew/i);
  });

  it('is not shown to an account that never had a pass, or whose pass begins later', () => {
    expect([reminder(account()), reminder(account([24, 48]))]).toEqual([undefined, undefined]);
  });
});

describe('an order', () => {
  const order = { code: 'ORD-1', price: 25_000, currency: 'IDR', expiresAt: new Date(now + hour) } as Order;

  it('that is not paid is on the page with its price, in both languages', () => {
    const shown = describeOrder({ order, view: 'waiting' }, reader());
    expect(shown.title).toMatch(/^Order ORD-1 is waiting for your payment of .*25[.,]000\.$/);
    expect(shown.action.path).toBe('/orders/ORD-1');
    expect(describeOrder({ order, view: 'preparing' }, reader('id')).title).toMatch(/menunggu pembayaran/);
  });

  it.each(['seen', 'wrong'] as const)('whose payment is %s is being checked', (view) => {
    expect(describeOrder({ order, view }, reader()).title).toBe('Your payment for order ORD-1 is being checked.');
  });
});

const granted = (label: string, hoursAgo: number) => ({
  startsAt: new Date(now),
  endsAt: new Date(now + 48 * hour),
  label,
  limits: undefined,
  grantedAt: new Date(now - hoursAgo * hour),
});

const note = (...periods: ReturnType<typeof granted>[]) =>
  describeGrant({ periods } as unknown as AccountRecord, now, reader());

describe('days that an operator has added', () => {
  it('are explained by the newest name for a week', () => {
    expect(note(granted('Outage of 22 November', 2), granted('Welcome', 100))).toMatchObject({
      kind: 'info',
      title: 'Outage of 22 November',
      text: expect.stringMatching(/^We added 2 days to your pass, until /),
    });
    expect(note(granted('Welcome', 167))).toMatchObject({ title: 'Welcome' });
    expect(note(granted('Welcome', 168))).toBeUndefined();
  });

  it('have the name of a plan in the language of the reader', () => {
    const given = { periods: [granted('for weekly work', 2)] } as unknown as AccountRecord;
    expect(describeGrant(given, now, reader('id'))?.title).toBe('untuk kerja mingguan');
  });

  it('are not mentioned where there are none', () => {
    expect(describeGrant(account([0, 24]), now, reader())).toBeUndefined();
  });
});
