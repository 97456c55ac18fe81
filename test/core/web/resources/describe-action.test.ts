import { describe, expect, it } from 'vitest';
import { keepActions } from '#core/business/operator-actions/actions.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { describeAction, describeDone } from '#core/web/resources/describe-action.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { findEnglish } from '../../../support/find-english.ts';
import { registeredHere } from '../../../support/registered.ts';

const { actions, pageTexts } = await registeredHere();
const host = createTestHost();
keepActions(host, actions);
const texts = new Translator(pageTexts);
const account = '0192f3a1-7c3e-7abc-8def-0123456789ab';

/** A value of each member that an action may take. */
const sample: Readonly<Record<string, unknown>> = {
  note: 'ditanya lewat chat',
  days: -3,
  to: account,
  sign_in: 'local',
  payment: account,
  amount: 30_000,
  manual: true,
  days_back: 'none',
  as: 'failed',
  outcome: 'kept',
  label: 'Maaf',
  since: '2026-11-22T13:00:00Z',
  until: '2026-11-22T15:00:00Z',
  model: 'dp/gpt-6-sol',
  outage: account,
  kind: 'maintenance',
  audience: 'customers',
  text_en: 'Kami pindah.',
  text_id: 'Kami pindah.',
  mail: true,
  file: 'next.yaml',
  share: '10%',
  minutes: 10,
  number: 3,
  day: '2026-11-22',
  time_zone: 'Asia/Jakarta',
  provider: 'midtrans',
  configuration: 12,
  count: 100,
  source: 'given',
  for: 'new',
  refund: 'ORD-7K2M9Q4T-R1',
  flag: 'wrong_amount',
  mailed: 'order.paid',
  confirm: 'a secret',
};
/** What is said with each: its input. */
const said = Array.from(actions.values(), ({ name, input }) => [name, Object.keys(input.properties)] as const);

function tell(
  action: string,
  names: readonly string[],
  language: 'en' | 'id',
  accounts = new Map<string, string>(),
  values = sample,
): string {
  const words = Object.fromEntries(names.map((name) => [name, values[name]]));
  const { note, ...details } = words as RecordedAction['details'] & { note?: string };
  const t = texts.in(language);
  const format = getFormatter(language, 'Asia/Jakarta');
  return describeAction({ action, details, note, error: undefined }, { t, format, language, host }, accounts);
}

describe.each(['en', 'id'] as const)('in %s', (language) => {
  it.each(said)('%s reads without the name of a field or an id', (action, names) => {
    const kept = names.filter((name) => !actions.get(action)?.unrecorded?.some((one) => one === name));
    const told = tell(action, kept, language);
    expect(describeDone(action, texts.in(language))).not.toBe(action);
    expect(told).not.toMatch(/operator\.|[a-z]_[a-z]|[\da-f]{8}-[\da-f]{4}-|\b(true|false|undefined)\b|a secret/);
    for (const name of names) expect(told).not.toContain(`${name}: `);
    if (language === 'id') expect(findEnglish(`<body>${told}`)).toEqual([]);
  });
});

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

it('the description of an action reads as a sentence', () => {
  const refund = ['payment', 'amount', 'days_back', 'manual', 'note'];
  expect(plain(tell('order.refund', refund, 'en'))).toBe(
    'Rp 30.000, the days stay, paid back by the operator – ditanya lewat chat',
  );
  expect(plain(tell('order.refund', refund, 'id'))).toBe(
    'Rp 30.000, harinya tetap, dikembalikan sendiri oleh operator – ditanya lewat chat',
  );
  const move = ['sign_in', 'to'];
  expect(tell('account.move_sign_in', move, 'en', new Map([[account, 'ani@example.com']]))).toBe(
    'Local sign-in, to ani@example.com',
  );
  expect(tell('account.move_sign_in', move, 'en', new Map([[account, account]]))).toBe(
    'Local sign-in, to another account',
  );
});

it('with a time that does not exist still reads, as it was written', () => {
  const values = { since: '2026-13-01T00:00Z', until: '2026-11-22T15:00:00Z' };
  expect(plain(tell('announcement.create', ['since', 'until'], 'en', new Map(), values))).toContain(
    '2026-13-01T00:00Z',
  );
});

it('of a capability that is gone still reads', () => {
  const values = {
    reach: 'all',
    sent_at: '2026-11-22T13:00:00Z',
    is_loud: true,
    is_late: false,
    note: 'asked by chat',
  };
  expect(plain(tell('parade.begin', Object.keys(values), 'en', new Map(), values))).toBe(
    'reach: all, sent at: 22 Nov 2026, 20:00 WIB, is loud – asked by chat',
  );
  expect(tell('mail.send_again', ['mailed'], 'en', new Map(), { mailed: 'parade.begun' })).toBe('parade.begun');
  expect(describeDone('parade.begin', texts.in('en'))).toBe('parade.begin');
});

it('of an earlier version, with a member that its action no longer has, still reads', () => {
  expect(tell('account.unblock', ['to', 'note'], 'en', new Map(), { to: 'ani', note: 'why' })).toBe('to: ani – why');
});
