import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ReviewedHost } from '#core/extension/registry.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { parseShopPages } from '../../../plugins/shop-pages/parse-pages.ts';
import { pagesReview } from '../../../plugins/shop-pages/review.ts';
import { writeDrafts } from '../../../plugins/shop-pages/starter.ts';

const upstream = (baseUrl: string, more: object = {}) => ({ baseUrl, isEnabled: true, isDemo: false, ...more });

function host(
  files: Readonly<Record<string, string>>,
  settings: { sections?: object; log?: object } = {},
): ReviewedHost {
  const { sections = {}, log = { keep_days: 30, content: false } } = settings;
  const made = createTestHost({
    files: { pages: files },
    sections: { plans: [{ days: 1, price: 18_000 }], ...sections },
  });
  const upstreams = [
    upstream('https://api.openai.com/v1'),
    upstream('http://127.0.0.1:11434'),
    upstream('http://vllm:8000'),
    upstream('https://off.test', { isEnabled: false }),
    upstream('https://demo.test', { isDemo: true }),
  ];
  return {
    ...made,
    stages: [{ definition: { name: 'log' }, options: log }],
    catalog: { ...made.catalog, upstreams: upstreams as never },
  };
}

const notes = (...input: Parameters<typeof host>) => pagesReview.describe(host(...input))?.notice;

it('nothing is said without pages', () => {
  expect(pagesReview.describe(host({}))).toBeUndefined();
});

it('drafts are one note', () => {
  expect(notes({ 'terms.en.md': '{{a}}', 'terms.id.md': '---\ndraft: true\n---\n', 'about.en.md': 'x' })).toEqual([
    expect.stringMatching(/drafts.*terms\.en\.md, terms\.id\.md;/),
  ]);
});

it('what the privacy page does not name of this configuration is a note in each language', () => {
  const sections = { backup: { every: 'day' } };
  expect(
    notes({ 'privacy.en.md': 'x', 'privacy.id.md': 'x' }, { sections, log: { keep_days: 90, content: true } }),
  ).toEqual(
    ['en', 'id'].map(
      (language) =>
        `pages: privacy.${language}.md does not name the host api.openai.com, records of requests for 90 days (log.keep_days), recorded prompts and responses (log.content), backups (backup)`,
    ),
  );
});

it.each([
  ['Prompts go to api.openai.com. Records: 30 days.', []],
  ['Prompts go to openai.com, records stay for 30 days.', []],
  ['Prompts go to notopenai.com, 30 days.', ['api.openai.com']],
  ['Prompts go to openai.com.example, 30 days.', ['api.openai.com']],
  ['openai.com, 130 days', ['keep_days']],
  ['openai.com, 30 hari', []],
  ['openai.com\n| mails | 30 days |', ['keep_days']],
  ['openai.com\n| email | 30 hari |', ['keep_days']],
  ['openai.com\n| mails | 90 days |\n| records of requests | 30 days |', []],
  ['openai.com\n| catatan request | 30 hari |', []],
])('"%s" leaves out %j', (text, missing) => {
  expect(String(notes({ 'privacy.en.md': text })).match(/api\.openai\.com|keep_days/g) ?? []).toEqual(missing);
});

it.each([
  ['Prompts are recorded for 30 days.', true],
  ['Prompts are passed on and not recorded.', false],
  ['Prompt dan jawaban dicatat selama 30 hari.', true],
  ['Prompt tidak disimpan.', false],
])('"%s" names recorded prompts: %s', (text, isNamed) => {
  const all = `openai.com 30 days\n\n${text}`;
  expect(notes({ 'privacy.en.md': all }, { log: { keep_days: 30, content: true } })?.length === 0).toBe(isNamed);
});

it('a link that pages do not make is a note', () => {
  expect(notes({ 'about.en.md': '[a](https://a.test) [b](/b) [c](http://c.test)' })).toEqual([
    expect.stringContaining('about.en.md links http://c.test'),
  ]);
});

it.each([
  [{}, { keep_days: 30, content: false }],
  [{ backup: { every: 'week' } }, { keep_days: 7, content: true }],
])('drafts name all of a configuration %j', async (sections, log) => {
  const drafts = Object.fromEntries(
    (await writeDrafts(host({}, { sections, log }))).map(([path, text]) => [path.slice('./pages/'.length), text]),
  );
  expect(Object.keys(drafts)).toHaveLength(8);
  const described = notes(drafts, { sections, log });
  expect(described).toHaveLength(1);
  expect(parseShopPages(new Map(Object.entries(drafts).map(([name, text]) => [name, { text }]))).mistakes).toEqual([]);
});

const privacy = async (language: string, sections = {}) =>
  new Map(await writeDrafts(host({}, { sections }))).get(`./pages/privacy.${language}.md`) ?? '';

it('drafts of the privacy page name consents and requests about data where gateway.yaml has them, and not otherwise', async () => {
  const sections = {
    consents: {
      news: { label: { en: 'Send me news.', id: 'Kirimi saya kabar.' } },
      offers: { label: { en: 'Send me offers.', id: 'Kirimi saya penawaran.' } },
    },
    data_requests: { enabled: true, answer_hours: 48, keep_years: 7 },
  };
  const [en, id] = await Promise.all(['en', 'id'].map((language) => privacy(language, sections)));
  expect(en).toMatch(/\[Consents\]\(\/account\/consents\): “Send me news\.” and “Send me offers\.”\./);
  expect(en).toMatch(
    /deletion, .+processing\. The page \[Your data\]\(\/account\/data-requests\).+within 2 × 24 hours\./,
  );
  expect(en).toMatch(
    /\n\| consents that you gave[^\n]+\n\| what you asked us [^\n]+7 years[^\n]+\n\| mails that we sent/,
  );
  expect(id).toMatch(/\[Persetujuan\]\(\/account\/consents\): “Kirimi saya kabar\.” dan “Kirimi saya penawaran\.”\./);
  expect(id).toMatch(/\n\| persetujuan yang [^\n]+\n\| permintaanmu [^\n]+7 tahun[^\n]+\n\| email yang/);
  expect(id).toContain('dalam 2 × 24 jam.');
  const without = await privacy('en');
  expect(without).toMatch(/\| 30 days \|\n\| mails that we sent/);
  expect(without).toMatch(/limit processing\. We act within 3 × 24 hours\./);
  expect(without).not.toMatch(/Consents|account\/data-requests|consents that you gave/);
});

it('drafts are filled in from gateway.yaml, and the rest waits', async () => {
  const sections = {
    service: { name: 'Toko AI', contact: 'mailto:halo@toko.test', base_url: 'https://toko.test' },
    payments: { provider: 'midtrans', order_minutes: 45 },
    seller: { name: 'Rani', address: 'Jl. Melati 1\nBandung', keep_years: 12 },
  };
  const all = new Map(await writeDrafts(host({}, { sections })));
  const terms = all.get('./pages/terms.id.md');
  expect(terms).toContain('penjual, Rani (Jl. Melati 1, Bandung), yang menjalankan Toko AI di https://toko.test');
  expect(terms).toContain('| 1 hari | Rp 18.000 |');
  expect(terms).toContain('45 menit');
  expect(terms).toContain('[halo@toko.test](mailto:halo@toko.test)');
  expect(terms?.match(/\{\{.*?\}\}/g)).toEqual(['{{city}}']);
  expect(all.get('./pages/privacy.en.md')).toMatch(/12 years[^]*- api\.openai\.com[^]*processed by Midtrans\./);
});

const pagesOf = (kind: string, described: unknown) =>
  (described as string[]).filter((note) => note.includes(kind)).map((note) => /pages: (\S+)/.exec(note)?.[1]);

const missingIn = (files: Record<string, string>, sections: object) =>
  String(notes(files, { sections }) ?? '').match(/no page is at [^:]*/)?.[0];

describe('drafts of one gateway.yaml, with another', () => {
  const seller = { name: 'PT Contoh Jaya', address: 'Jl. Merdeka 1\nJakarta' };
  const plans = [{ days: 1, price: 18_000 }];
  const drafted = async () =>
    Object.fromEntries(
      (await writeDrafts(host({}, { sections: { seller, plans } }))).map(([path, text]) => [
        path.slice('./pages/'.length),
        text.replaceAll(/\{\{.*?\}\}/g, 'x').replace('draft: true\n', ''),
      ]),
    );
  const six = ['terms.en.md', 'terms.id.md', 'privacy.en.md', 'privacy.id.md', 'contact.en.md', 'contact.id.md'];

  it.each([
    ['the same', { seller, plans }, [], [], []],
    ['a seller that is written differently', { seller: { ...seller, name: 'PT. CONTOH JAYA' }, plans }, [], [], []],
    ['another seller', { seller: { ...seller, name: 'PT Lain' }, plans }, six, [], []],
    ['another address', { seller: { ...seller, address: 'Jl. Asia 2, Bandung' }, plans }, [], six, []],
    ['another price', { seller, plans: [{ days: 1, price: 25_000 }] }, [], [], six.slice(0, 2)],
    ['no plan of that length', { seller, plans: [{ days: 2, price: 18_000 }] }, [], [], six.slice(0, 2)],
  ])('are compared: %s', async (_, sections, sellers, addresses, prices) => {
    const described = notes(await drafted(), { sections });
    expect(pagesOf('a seller other', described)).toEqual(sellers);
    expect(pagesOf('an address other', described)).toEqual(addresses);
    expect(pagesOf('no plan offers', described)).toEqual(prices);
  });

  it('nothing is said about words that are not those of the drafts', () => {
    const text =
      'We, PT Lain of Bandung 12, sell.\n\n| 5 days | after 7 |\n| 5 days | Rp 1.000 | x |\n\n5 days cost a lot.';
    expect(notes({ 'terms.en.md': text, 'contact.en.md': text }, { sections: { seller } })).toEqual([]);
  });
});

describe('pages that an open shop needs', () => {
  const shop = {
    service: { base_url: 'https://toko.test', contact: 'mailto:halo@toko.test' },
    payments: { provider: 'midtrans' },
  };

  it.each([
    ['without any', {}, shop, 'no page is at /terms, /privacy, /refunds, /contact'],
    ['with terms alone', { 'terms.en.md': 'x' }, shop, 'no page is at /privacy, /refunds, /contact'],
    [
      'with terms elsewhere',
      {},
      { ...shop, service: { ...shop.service, terms: 'https://a.test' } },
      'no page is at /privacy',
    ],
    ['in the sandbox', {}, { ...shop, payments: { provider: 'sandbox' } }, undefined],
    ['where nothing is sold', {}, { ...shop, payments: { provider: 'none' } }, undefined],
    ['on its own machine', {}, { ...shop, service: { base_url: 'http://localhost:8080' } }, undefined],
    ['as a public demo', {}, { ...shop, service: { ...shop.service, unsafe_public_demo: true } }, undefined],
  ])('%s', (_, files, sections, expected) => {
    expect(missingIn(files, sections)).toBe(expected);
  });
});

it.each([
  ['en', 'none', 'total prices. An order'],
  ['en', { name: 'PPN', rate: 12 }, 'total prices. They include PPN. An order'],
  [
    'id',
    [
      { name: 'PPN', rate: 11 },
      { name: 'PPN', rate: 12, from: '2025-01-01' },
    ],
    'Harga sudah termasuk PPN. Pesanan',
  ],
])('drafted terms in %s with the tax %j say "%s"', async (language, tax, said) => {
  const seller = { name: 'Rani', tax };
  const all = new Map(await writeDrafts(host({}, { sections: { seller } })));
  expect(all.get(`./pages/terms.${language}.md`)?.replaceAll('\n', ' ')).toContain(said);
});

it('drafts are dated in the time zone of the shop', async () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 29, 21, 33), toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const sections = { service: { time_zone: 'Asia/Jakarta' } };
  expect((await writeDrafts(host({}, { sections })))[0]?.[1]).toContain('version: 2026-11-30');
});
