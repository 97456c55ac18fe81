import { describe, expect, it } from 'vitest';
import { actionKinds } from '#core/business/operator-actions/actions.ts';
import type { ActionWords, RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { ownTexts, reasonTexts } from '#core/web/serving/own-parts.ts';
import { formatterFor } from '#core/web/texts/formatter.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import en from '../../../plugins/operator/texts/en.json' with { type: 'json' };
import id from '../../../plugins/operator/texts/id.json' with { type: 'json' };
import { tellAction } from '../../../plugins/operator/tell-action.ts';
import { findEnglish } from '../../support/find-english.ts';

const texts = new Translator([ownTexts, ...reasonTexts, defineTexts({ en, id })]);
const account = '0192f3a1-7c3e-7abc-8def-0123456789ab';

/** A value of each member that an action may take. */
const sample: { readonly [Name in keyof Required<ActionWords>]: NonNullable<ActionWords[Name]> } = {
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
/** Recorded by commands, pages and endpoints of their own: their input. */
const others = {
  'voucher.create': ['count', 'days', 'source', 'for', 'label', 'note'],
  'voucher.revoke': ['note'],
  'configuration.rollback': ['configuration', 'note'],
  'configuration.release': ['configuration', 'note'],
  'configuration.canary_begin': ['file', 'share', 'minutes', 'note'],
  'configuration.canary_full': ['number', 'note'],
  'configuration.canary_end': ['number', 'note'],
} as const;
const actions = [
  ...actionKinds.map(({ name, input }) => [name, Object.keys(input.properties)] as const),
  ...Object.entries(others),
];

function tell(names: readonly string[], language: 'en' | 'id', accounts = new Map<string, string>()): string {
  const words = Object.fromEntries(names.map((name) => [name, sample[name as keyof ActionWords]]));
  const { note, ...details } = words as RecordedAction['details'] & { note?: string };
  const t = texts.in(language);
  const format = formatterFor(language, 'Asia/Jakarta');
  return tellAction({ details, note, error: undefined }, { t, format, language, host: createTestHost() }, accounts);
}

describe.each(['en', 'id'] as const)('in %s', (language) => {
  it.each(actions)('%s reads without the name of a field or an id', (action, names) => {
    const told = tell(names, language);
    expect(texts.in(language)(`operator.did.${action}`)).not.toContain('operator.');
    expect(told).not.toMatch(/operator\.|[a-z]_[a-z]|[\da-f]{8}-[\da-f]{4}-|\b(true|false|undefined)\b|a secret/);
    for (const name of names) expect(told).not.toContain(`${name}: `);
    if (language === 'id') expect(findEnglish(`<body>${told}`)).toEqual([]);
  });
});

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

it('reads as a sentence', () => {
  const refund = ['payment', 'amount', 'days_back', 'manual', 'note'];
  expect(plain(tell(refund, 'en'))).toBe('Rp 30.000, the days stay, paid back by the operator – ditanya lewat chat');
  expect(plain(tell(refund, 'id'))).toBe(
    'Rp 30.000, harinya tetap, dikembalikan sendiri oleh operator – ditanya lewat chat',
  );
  const move = ['sign_in', 'to'];
  expect(tell(move, 'en', new Map([[account, 'ani@example.com']]))).toBe('Local sign-in, to ani@example.com');
  expect(tell(move, 'en', new Map([[account, account]]))).toBe('Local sign-in, to another account');
});
