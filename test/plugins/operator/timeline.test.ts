import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { parseRequestTime } from '#core/gateway/records/request-id.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { ownTexts, coreTexts } from '#core/web/serving/own-parts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { describeTimeline, type TimelineSources } from '../../../plugins/operator/accounts/timeline.ts';
import en from '../../../plugins/operator/texts/en.json' with { type: 'json' };
import id from '../../../plugins/operator/texts/id.json' with { type: 'json' };

const now = Date.parse('2031-05-12T12:00:00Z');
const hour = 3_600_000;
const texts = new Translator([ownTexts, ...coreTexts, defineTexts({ en, id })]);
const ago = (hours: number) => new Date(now - hours * hour);

const payment = {
  id: 'payment',
  amount: 144_500,
  currency: 'IDR',
  paidAt: ago(1),
  outcome: 'wrong_amount',
};
const order = {
  code: 'ORD-7DQAJH20',
  days: 30,
  price: 289_000,
  currency: 'IDR',
  createdAt: ago(2),
  expiresAt: ago(1),
  payments: [payment],
  refunds: [],
  flags: [{ id: 'flag', kind: 'wrong_amount', subject: 'payment', createdAt: ago(1), resolvedAt: undefined }],
};
const counts = (hoursAgo: number, refused: number, failed: number) => {
  return { hour: now - hoursAgo * hour, requests: 300, refused, failed, errors: refused + failed };
};
const empty = {
  record: { id: 'account', createdAt: ago(240), key: { hint: 'dp-…LSxU', createdAt: ago(240) } },
  orders: [],
  ledger: [],
  actions: [],
  pluginEntries: [],
  sessions: [],
  hours: [],
};

function tell(sources: object, language: 'en' | 'id' = 'en', story?: string) {
  const request = {
    t: texts.in(language),
    format: getFormatter(language, 'UTC'),
    host: createTestHost({ now }),
    query: story === undefined ? {} : { story },
  };
  return describeTimeline({ ...empty, ...sources } as unknown as TimelineSources, request as unknown as PageRequest);
}

const lines = (sources: object, language?: 'en' | 'id', story?: string) =>
  tell(sources, language, story).entries.map(({ icon, title, text, link }) =>
    [icon, title, text, link?.label]
      .filter((part) => part !== undefined && part !== '')
      .join(' | ')
      .replaceAll('\u00a0', ' '),
  );

describe('the story of an account', () => {
  it('of which nothing else is known begins with the account', () => {
    expect(lines({})).toEqual(['info | Account created']);
  });

  it('tells a payment of a wrong amount with the way to resolve it, above its order', () => {
    expect(lines({ orders: [order] }).slice(0, 2)).toEqual([
      'bad | Paid Rp 144.500 of Rp 289.000 | Order ORD-7DQAJH20: Wrong amount, not activated | Resolve',
      'info | Ordered 30 days | Rp 289.000 · to be paid by 11:00 | ORD-7DQAJH20',
    ]);
    expect(lines({ orders: [order] }, 'id')[0]).toMatch(/^bad \| Membayar Rp 144\.500 dari Rp 289\.000 \|/);
  });

  it('says that only the newest entries are listed when there are more', () => {
    const orders = Array.from({ length: 40 }, (_, index) => ({ ...order, code: `ORD-${index}` }));
    expect(tell({ orders }).note).toBe('Only the newest 30 are listed.');
    expect(tell({ orders: orders.slice(0, 3) }).note).toBe('');
  });

  it('tells of a second flag about the same payment too, with the way to resolve it', () => {
    const second = { ...order.flags[0], id: 'second', kind: 'disputed' };
    expect(lines({ orders: [{ ...order, flags: [...order.flags, second] }] }).slice(0, 2)).toEqual([
      expect.stringMatching(/^bad \| Paid Rp 144\.500 of Rp 289\.000 .*\| Resolve$/),
      expect.stringMatching(/^bad \| Chargeback \| ORD-7DQAJH20 \| Resolve$/),
    ]);
  });

  it('tells of an order that was cancelled that it was', () => {
    const cancelled = { ...order, state: 'cancelled', payments: [], flags: [] };
    expect(lines({ orders: [cancelled] })[0]).toBe('info | Ordered 30 days | Rp 289.000 · cancelled | ORD-7DQAJH20');
  });

  it('tells how a flag was resolved, and does not ask to resolve it', () => {
    const resolved = { ...order, flags: [{ ...order.flags[0], resolvedAt: ago(0), resolution: 'sent back by bank' }] };
    expect(lines({ orders: [resolved] }).slice(0, 2)).toEqual([
      'ok | Resolved: Wrong amount | ORD-7DQAJH20 · sent back by bank',
      'info | Paid Rp 144.500 of Rp 289.000 | Order ORD-7DQAJH20: Wrong amount, not activated',
    ]);
  });

  it('tells what plugins know of it in its place', () => {
    const pluginEntries = [{ topic: 'access', at: ago(3), icon: 'ok', title: 'Place reserved', text: '30 days' }];
    const told = lines({ pluginEntries, ledger: [], orders: [order] }, 'en', 'access');
    expect(told).toEqual(['ok | Place reserved | 30 days', 'info | Account created']);
  });

  it('tells days that were given, and not a second time what an order gave', () => {
    const entry = { days: 1, createdAt: ago(3), endsAt: ago(-21), note: 'outage', label: undefined };
    const ledger = [
      { ...entry, reason: 'grant' },
      { ...entry, reason: 'order' },
    ];
    expect(lines({ ledger })).toEqual([
      'ok | Granted: 1 day | outage · Ends Tue 13 May, 09:00',
      'info | Account created',
    ]);
  });

  it('names an outage without the days of the period that it made longer', () => {
    const entry = { days: 30, createdAt: ago(3), endsAt: ago(-21), note: 'dp/a was down', label: undefined };
    expect(lines({ ledger: [{ ...entry, reason: 'outage' }] })[0]).toMatch(/^ok \| Outage \| dp\/a was down/);
  });

  it.each([
    ['en', 'ok | Outage | dp/a was down from Mon 12 May, 03:32 for 14 minutes · Ends Tue 13 May, 09:00'],
    ['id', 'ok | Gangguan | dp/a mati sejak Sen 12 Mei, 03.32 selama 14 menit · Habis Sel 13 Mei, 09.00'],
  ] as const)('tells in %s which outage it was, without the sentence on record', (language, line) => {
    const outage = {
      outageModel: 'dp/a',
      outageFromAt: new Date('2031-05-12T03:32:50.677Z'),
      outageUntilAt: new Date('2031-05-12T03:46:51Z'),
    };
    const note = 'dp/a was down from 2031-05-12T03:32:50.677Z, incident 01a2255d-9151-7abc-8def-0123456789ab';
    const entry = { days: 30, createdAt: ago(3), endsAt: ago(-21), note, label: undefined, reason: 'outage' };
    expect(lines({ ledger: [{ ...entry, ...outage }] }, language)[0]).toBe(line);
  });

  it('tells what operators did, with how it ended, but not their notes', () => {
    const action = {
      operator: 'ani',
      createdAt: ago(4),
      error: undefined,
      note: 'abuse',
      details: {},
      outcome: 'done',
    };
    const actions = [
      { ...action, action: 'account.block' },
      { ...action, action: 'account.unblock', outcome: 'failed', error: 'no database' },
      { ...action, action: 'account.note' },
    ];
    expect(lines({ actions })).toEqual([
      'info | Blocked the account | abuse · ani',
      'bad | Unblocked the account | abuse – no database · ani',
      'info | Account created',
    ]);
  });

  it('tells of hours with many errors, and shows the requests before their end', () => {
    const hours = [counts(5, 212, 3), counts(6, 0, 19), counts(7, 4, 30)];
    expect(lines({ hours })).toEqual([
      'warn | 212 requests rejected | Of 300 between 07:00 and 08:00 | Show them',
      'warn | 30 requests failed | Of 300 between 05:00 and 06:00 | Show them',
      'info | Account created',
    ]);
    const path = new URL(tell({ hours }).entries[0]?.link?.path ?? '', 'http://localhost');
    expect(path.searchParams.get('account')).toBe('account');
    expect(parseRequestTime(path.searchParams.get('before') ?? '')).toBe(now - 4 * hour);
  });

  it('can be narrowed to money, and to everything by an unknown word', () => {
    const sessions = [{ createdAt: ago(1), userAgent: '' }];
    expect(lines({ orders: [order], sessions }, 'en', 'money')).toHaveLength(2);
    expect(lines({ orders: [order], sessions }, 'en', 'constructor')).toHaveLength(4);
    expect(tell({}, 'en', 'money').topics.filter(({ isCurrent }) => isCurrent)).toMatchObject([{ label: 'Money' }]);
  });

  it('ends after thirty entries', () => {
    const sessions = Array.from({ length: 100 }, (_, index) => ({ createdAt: ago(index), userAgent: '' }));
    expect(lines({ sessions })).toHaveLength(30);
  });
});
