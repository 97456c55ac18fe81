import { expect, it } from 'vitest';
import { formatEntries, formatEntry, formatTables } from '#core/extension/commands/field-text.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import { defineView, describeEntryFacts, fieldTable } from '#core/web/resources/field.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';

interface Parcel {
  readonly id: string;
  readonly sentAt: Date | undefined;
  readonly price: { readonly amount: number; readonly currency: string };
  readonly weight: number;
  readonly tookMs: number;
  readonly state: 'sent' | 'lost';
  readonly note: string | undefined;
  readonly owner: string;
}

const parcels = defineView<Parcel>()(
  {
    parcel: { type: 'id', at: 'title', fit: 'id', of: 'id' },
    sent_at: { type: 'time', at: 'note', of: 'sentAt' },
    price: { type: 'money', at: 'end', of: 'price' },
    weight: { type: 'count', at: 'hide', isNamed: true, of: 'weight' },
    took: { type: 'duration', at: 'hide', of: 'tookMs' },
    state: { type: 'state', at: 'hide', texts: 'parcel.state', kinds: { lost: 'bad' }, of: 'state' },
    note: { type: 'text', at: 'below', isSentence: true, of: 'note' },
    owner: { type: 'person', label: 'parcel.owner', at: 'hide', of: 'owner' },
    page: { type: 'link', at: 'hide', value: ({ id }) => ({ text: `to ${id}`, path: `/parcels/${id}` }) },
    age: { type: 'text', heading: 'age in s', value: ({ sentAt }, now) => sentAt && String((now - +sentAt) / 1_000) },
  },
  ['parcel', 'sent_at', 'price', 'weight', 'state', 'owner', 'page', 'age', 'note'],
);

const now = Date.UTC(2026, 10, 29, 8);
const parcel: Parcel = {
  id: 'p1',
  sentAt: new Date(now - 60_000),
  price: { amount: 95_000, currency: 'IDR' },
  weight: 1_200,
  tookMs: 710,
  state: 'lost',
  note: 'Fell off.',
  owner: 'a1',
};
const nothing: Parcel = { ...parcel, sentAt: undefined, note: undefined, state: 'sent' };
const reader = {
  t: (key: string) => `<${key}>`,
  language: 'en' as const,
  format: getFormatter('en', 'Asia/Jakarta'),
  host: createTestHost({ now }),
  names: new Map([['a1', 'Ani']]),
};

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

it('a table of a page has the fields that have a place in a row, each as its type is shown', () => {
  const { columns, rows } = fieldTable(reader, 'parcels', 'parcels', [parcel, nothing], parcels.page);
  expect(columns.map(({ label }) => label)).toEqual([
    '<operator.parcel>',
    '<operator.sent_at>',
    '<operator.price>',
    '<operator.weight>',
    '<operator.took>',
    '<operator.state>',
    '<operator.note>',
    '<parcel.owner>',
    '<operator.page>',
  ]);
  expect(columns.flatMap(({ isNumber }, index) => (isNumber === true ? [index] : []))).toEqual([2, 3, 4]);
  const [first, second] = rows.map((row) => row.map(({ text }) => plain(text)));
  expect(first).toEqual([
    'p1',
    'Sun 29 Nov, 14:59',
    'Rp 95.000',
    '1,200',
    '0.71 s',
    '<parcel.state.lost>',
    '<Fell off.>',
    'Ani',
    'to p1',
  ]);
  expect([second?.[1], second?.[6]]).toEqual(['', '']);
  expect(rows[0]?.[0]).toMatchObject({ isCode: true });
  expect(rows.map((row) => row[5]?.kind)).toEqual(['bad', undefined]);
  expect([rows[0]?.[7]?.path, rows[0]?.[8]?.path]).toEqual(['/operator/accounts/a1', '/parcels/p1']);
});

it('facts of one entry are named as on pages, without what has no value', () => {
  const facts = describeEntryFacts(reader, nothing, parcels.pick('state', 'sent_at', 'note', 'page'));
  expect(facts).toMatchObject([
    { name: '<operator.state>', value: '<parcel.state.sent>' },
    { name: '<operator.page>', value: 'to p1', path: '/parcels/p1' },
  ]);
  expect(describeEntryFacts(reader, parcel, parcels.pick('sent_at'))[0]?.value).toMatch(/^29 Nov 2026, 14:59 /);
});

it('a command prints its own fields in its own order, and names the zone of the first time of a list', () => {
  const text = { timeZone: 'Asia/Jakarta', now, names: reader.names };
  const [heading = '', line = ''] = formatEntries([parcel], parcels.text, text, { isZoneNamed: true });
  expect(heading.split(/ {2,}/)).toEqual([
    'parcel',
    'sent at (Asia/Jakarta)',
    'price',
    'weight',
    'state',
    'owner',
    'page',
    'age in s',
    'note',
  ]);
  expect(plain(line).split(/ {2,}/)).toEqual([
    'p1',
    '2026-11-29 14:59',
    'Rp 95.000',
    '1,200',
    'lost',
    'Ani',
    'to p1',
    '60',
    'Fell off.',
  ]);
  expect(formatEntries([], parcels.text, text)).toEqual([]);
});

it('a single resource is printed as names and values, followed by its own lines of text', () => {
  const fields = parcels.pick('parcel', 'sent_at', 'state');
  expect(formatEntry(nothing, fields, { timeZone: 'UTC', now }, [['times', 'UTC']])).toEqual([
    'parcel  p1',
    'state   sent',
    'times   UTC',
  ]);
});

it('a table that is full to the limit of its list says that only the newest are in it', () => {
  const notes = [2, 3].map(
    (limit) => fieldTable(reader, 'parcels', 'parcels', [parcel, nothing], parcels.page, limit).note,
  );
  expect(notes).toEqual(['<operator.newest_listed>', undefined]);
});

it('a command prints the same below a table that is full to its limit', () => {
  const table = { name: 'parcels', entries: [parcel, nothing], view: parcels, maxEntries: 2 };
  const text = { now, timeZone: 'Asia/Jakarta' } as unknown as Parameters<typeof formatTables>[1];
  expect(formatTables([table], text).at(-1)).toMatch('only the newest 2 are listed');
  expect(formatTables([{ ...table, maxEntries: 3 }], text).join('\n')).not.toMatch('only the newest');
});
