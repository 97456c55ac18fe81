import type { Server } from '@hapi/hapi';
import { describe, expect, it } from 'vitest';
import { currencySection, plansSection } from '#core/business/accounts/plans.ts';
import { keepProviders } from '#core/business/payments/connections.ts';
import type { PaymentProvider } from '#core/business/payments/payment-provider.ts';
import { paymentsSection } from '#core/business/payments/section.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { listen } from '#core/config/sections/core-sections.ts';
import { operatorsSection } from '#core/config/sections/operators-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type RouteStatus, createRoutesReport } from '#core/gateway/model-call/route-status.ts';
import type { AnyStageDefinition } from '#core/gateway/pipeline/stage.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { ownTexts } from '#core/web/serving/own-parts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { describeCapabilities } from '../../../plugins/format/catalog/model-capabilities.ts';
import { plugin } from '../../../plugins/landing/index.ts';
import { describeFacts, describePlans, describeSoldOutNotice } from '../../../plugins/landing/plans.ts';
import en from '../../../plugins/landing/texts/en.json' with { type: 'json' };
import id from '../../../plugins/landing/texts/id.json' with { type: 'json' };
import { readYaml } from '../../core/business/accounts/yaml-fixture.ts';
import { FakeProvider } from '../../core/business/payments/fake-provider.ts';
import { pageAt, pageHost, servePages, testTexts } from '../../core/web/page-fixture.ts';
import { hostOf, modelOf } from '../format/catalog/catalog-fixture.ts';

const texts = new Translator([ownTexts, defineTexts({ en, id })]);

interface Home {
  readonly models?: readonly Model[];
  readonly service?: Partial<Host['service']>;
  readonly yaml?: string;
  /** Report of a plugin about routes; there is none when left out. */
  readonly statuses?: RouteStatus[];
  readonly hasSignIn?: boolean;
  readonly provider?: PaymentProvider;
  /** Whether a plugin serves the script that sets up tools. */
  readonly hasSetup?: boolean;
  readonly log?: Host['log'];
}

const stage: AnyStageDefinition = { name: 'any', description: 'Any.', options: { type: 'object' }, create: () => ({}) };

/** A server with nothing but the front page. */
async function serve(home: Home = {}): Promise<Server> {
  const {
    models = [modelOf('test')],
    service = {},
    yaml = '',
    statuses,
    hasSignIn = false,
    provider,
    hasSetup = false,
    log,
  } = home;
  const sections = [listen, plansSection, currencySection, operatorsSection, paymentsSection];
  const config = readYaml(`pipeline: [any]\n${yaml}`, { sections, stages: [stage] });
  const bare = hostOf(models);
  const host = pageHost({
    catalog: bare.catalog,
    database: { query: () => Promise.resolve([]) } as never,
    service: { ...bare.service, ...service },
    section: (section) => config.get(section),
    ...(log && { log }),
  });
  if (provider !== undefined) keepProviders(host, new Map([[provider.name, provider]]));
  return servePages(host, async (server) => {
    server.gateway.abilities(describeCapabilities);
    if (statuses !== undefined) server.gateway.statusReport(createRoutesReport(() => statuses));
    if (hasSetup) server.gateway.page(pageAt('/dashboard/connect'));
    if (hasSignIn) server.gateway.page(pageAt('/sign-in'));
    for (const each of [testTexts, defineTexts({ en, id })]) server.gateway.texts(each);
    await plugin.register(server);
  });
}

/** The page as a visitor sees it. */
async function pageOf(home?: Home, url = '/', headers: Record<string, string> = {}): Promise<string> {
  const server = await serve(home);
  return (await server.inject({ url, headers })).payload;
}

/** The command that sets up tools, with what stands around it. */
async function commandOf(home: Home, headers = {}): Promise<string> {
  return (await pageOf(home, '/?sample=one-command', headers)).replaceAll(/<\/?span[^>]*>/g, '');
}

describe('front page', () => {
  it.each([
    ['', 'base_url=&quot;https://gateway.example/v1&quot;'],
    ['?sample=anthropic-python', 'base_url=&quot;https://gateway.example&quot;'],
    ['?sample=gemini-python', '&quot;base_url&quot;: &quot;https://gateway.example&quot;'],
    ['?sample=claude-code', 'ANTHROPIC_BASE_URL=&quot;https://gateway.example&quot;'],
    ['?sample=nonsense', 'base_url=&quot;https://gateway.example/v1&quot;'],
  ])('the front page at /%s shows the line of the sample to change', async (query, line) => {
    const page = await pageOf({ models: [modelOf('one')] }, `/${query}`);
    expect(page.replaceAll(/<\/?span[^>]*>/g, '')).toContain(line);
  });

  it('the front page shows the setup command only if the setup plugin is on', async () => {
    const command = await commandOf({ hasSetup: true });
    expect(command).toContain('\ncurl -fsSL https://gateway.example/setup.sh | sh\n');
    expect(command).toContain('data-value="curl -fsSL https://gateway.example/setup.sh | sh"');
    const windows = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)' };
    expect(await commandOf({ hasSetup: true }, windows)).toContain('\nirm https://gateway.example/setup.ps1 | iex\n');
    const without = await commandOf({});
    expect(without).not.toMatch(/One command|one command|setup\.sh/);
    expect(without).toContain('base_url=');
  });

  it('the front page lists every model with its formats, routes and state', async () => {
    const { routes } = modelOf('test');
    const two = modelOf('two', ['chat'], { routes: [routes[0]!, routes[0]!, routes[0]!] });
    const statuses = [{ route: routes[0]!.id, state: 'open', open_until: null, reason: '503' } as const];
    const page = await pageOf({ models: [modelOf('one'), two], statuses });
    const rows = [...page.matchAll(/<tr><th scope="row"[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
      row
        .replaceAll(/<[^>]+>/g, '|')
        .split(/[|\s]*\|[|\s]*/)
        .filter((cell) => cell !== ''),
    );
    expect(rows).toEqual([
      ['dp/one', 'OpenAI · Anthropic · Gemini', 'Tools, images, reasoning', '1', '—', 'Down'],
      ['dp/two', 'OpenAI · Anthropic · Gemini', 'Tools, images, reasoning', '3', '—', 'Down'],
    ]);
  });

  it('the front page mentions failover only if a model has a backup route', async () => {
    const { routes } = modelOf('test');
    const one = modelOf('one');
    const two = modelOf('two', ['chat'], { routes: [routes[0]!, routes[0]!] });
    const pages = await Promise.all([[one], [one, two], [two]].map((models) => pageOf({ models })));
    expect(pages.map((page) => page.includes('Your request does not.'))).toEqual([false, true, true]);
    expect(pages.map((page) => page.includes('2 attempts'))).toEqual([false, true, true]);
    expect(pages[1]).toContain('1 of 2 models has backup routes.');
    expect(pages[2]).toContain('Every model has backup routes.');
  });

  it('the front page marks the recommended plan', async () => {
    const page = await pageOf({ yaml: 'plans: [{ days: 1, price: 1 }, { days: 7, price: 6, recommended: true }]' });
    expect(page.match(/class="plan( marked)?"/g)).toEqual(['class="plan"', 'class="plan marked"']);
  });

  it.each([
    ['{ weight: 2 }', '{ weight: 2 }', 'Only the time differs.'],
    ['{ weight: 1 }', undefined, 'Only the time differs.'],
    ['{ limit: 5, period: 60 }', '{ period: 60, limit: 5 }', 'Only the time differs.'],
    ['{ weight: 2 }', undefined, 'What differs is the time, and your share of a model when it is full.'],
    ['{ limit: 5 }', undefined, 'Time and limits differ.'],
    ['{ weight: 2, limit: 5 }', undefined, 'Time and limits differ.'],
  ])('the front page says of plans with the limits %s and %s: %s', async (one, other, lead) => {
    const [first, second] = [one, other].map((value) => (value === undefined ? '' : `, limits: ${value}`));
    const yaml = `plans: [{ days: 1, price: 1${first} }, { days: 7, price: 6${second} }]`;
    expect(await pageOf({ yaml })).toContain(lead);
  });

  it('the front page says that there are no models yet', async () => {
    expect(await pageOf({ models: [] })).toContain('No models at the moment.');
  });

  it.each([
    ['currency: USD\nplans: [{ days: 7, price: 1999, label: a week }]', '$19.99', '$2.86 per day', 'a week'],
    ['plans: [{ days: 7, price: 95000 }]', 'Rp 95.000', 'Rp 13.571 per day', ''],
  ])('the front page lists plans with price and price per day: %s', async (yaml, price, perDay, label) => {
    const page = (await pageOf({ yaml })).replaceAll('\u00a0', ' ');
    expect(page).toContain(`<p class="price">${price}</p>`);
    expect(page).toContain(`<p class="soft">${perDay}</p>`);
    expect(page).toContain(`<p class="soft">${label}</p>`);
  });

  it.each([
    ['plans: [{ days: 1, price: 18000 }]', 1],
    ['plans: [{ days: 3, price: 48000 }, { days: 30, price: 300000, recommended: true }]', 30],
  ])('the front page shows a pass that is sold as the sample: %s', async (yaml, days) => {
    expect(await pageOf({ yaml })).toContain(`${days}-day pass`);
  });

  it('the front page logs why it claims nothing about places', async () => {
    const logged: unknown[] = [];
    const log = { ...pageHost({}).log, error: (...said: unknown[]) => void logged.push(said) };
    await pageOf({ hasSignIn: true, provider: new FakeProvider('sandbox').provider, log });
    expect(logged).toEqual([[expect.stringContaining('places cannot be read'), expect.any(TypeError)]]);
  });

  it('the front page is in Indonesian for browsers that prefer it', async () => {
    const page = await pageOf({}, '/', { 'accept-language': 'id-ID,id;q=0.9,en;q=0.8' });
    expect(page).toMatch(/<html lang="id".*<h1>Satu API key untuk semua model, bayar per hari\.<\/h1>/s);
  });

  it('the front page warns of a demo only if an upstream is one', async () => {
    const real = modelOf('test');
    const [route] = real.routes;
    const demo = modelOf('test', ['chat'], {
      routes: [{ ...route!, upstream: { ...route!.upstream, isDemo: true } }],
    });
    const pages = [await pageOf({ models: [real] }), await pageOf({ models: [demo] })];
    expect(pages.map((page) => page.includes('demo upstream'))).toEqual([false, true]);
  });

  it('the front page offers plans only if sign-in and a payment provider are configured', async () => {
    expect(await pageOf()).toContain('Keys are issued by the operator');
    const without = await pageOf({ hasSignIn: true });
    expect(without).toContain('Keys are issued by the operator');
    expect(without).not.toMatch(/QRIS|\/buy|Choose a plan/);
    const page = await pageOf({ hasSignIn: true, provider: new FakeProvider('sandbox').provider });
    expect(page).toContain('<a class="button primary" href="/buy?days=7">Buy 7 days</a>');
    expect(page.replaceAll('\u00a0', ' ')).toMatch(/Buy 1, 3, 7 or 30 days with QRIS.*From Rp 18\.000/s);
    const yaml = 'plans: [{ days: 1, price: 18000 }]';
    const one = await pageOf({ yaml, hasSignIn: true, provider: new FakeProvider('sandbox').provider });
    expect(one).toContain('Buy 1 day with QRIS.');
    expect(page).not.toContain('Keys are issued by the operator');
  });

  it('the front page shows a contact only if one is configured', async () => {
    expect(await pageOf()).not.toContain('Contact');
    expect(await pageOf({ service: { contact: 'mailto:a@b.example' } })).toContain('href="mailto:a@b.example"');
  });

  it('the front page uses the name of the service in gateway.yaml everywhere', async () => {
    const page = await pageOf({ service: { name: 'Kelas AI', prefix: 'kelas' } });
    expect(page).toMatch(/<title>[^<]* · Kelas AI<\/title>/);
    expect(page).not.toMatch(/daypass/i);
  });

  it('the front page escapes names from gateway.yaml', async () => {
    const evil = '<script>alert(1)</script>';
    const page = await pageOf({
      models: [modelOf(evil, ['chat'], { displayName: '"><img src=x>' })],
      service: { name: evil, contact: '"onclick="x' },
    });
    expect(page).not.toMatch(/<script>|<img|"onclick/);
  });

  it('the front page does not name upstreams', async () => {
    expect(await pageOf()).not.toMatch(/model-there|127\.0\.0\.1/);
  });

  it('the front page has no inline script or style, which its policy would block', async () => {
    expect(await pageOf()).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|javascript:/);
  });
});

describe('the plans of the front page', () => {
  const plans = [
    { days: 1, price: 18_000 },
    { days: 7, price: 95_000 },
  ];
  const request = {
    host: { section: (section: unknown) => (section === plansSection ? plans : 'IDR') },
    t: (key: string, values: object = {}) => [key, ...Object.values(values)].join(' '),
    format: getFormatter('en', 'Asia/Jakarta'),
    language: 'en',
  } as unknown as PageRequest;
  const freeAt = Date.UTC(2026, 10, 28, 2);

  it('show once that they are sold out, with the time of the next free place', () => {
    const all = new Map(plans.map(({ days }) => [days, { freeAt }]));
    expect(describeSoldOutNotice(request, all)).toMatchObject({
      title: 'landing.sold_out',
      text: expect.stringMatching(/^landing\.free_at 28 Nov 2026, 09:00 WIB/),
    });
    const cards = describePlans(request, true, all, true);
    expect(cards.map(({ buy }) => buy)).toEqual(['landing.wait', 'landing.wait']);
    expect(cards.some((card) => 'soldOut' in card)).toBe(false);
    expect(describeFacts(request, true)).not.toContain('landing.active_soon');
  });

  it.each([
    ['en', 'Next place 28 Nov 2026, 09:00 WIB at the latest, unless renewed'],
    ['id', 'Tempat berikutnya paling lambat 28 Nov 2026, 09.00 WIB, kalau tidak diperpanjang'],
  ] as const)('are said to have a place earlier where an open order frees one: %s', (language, text) => {
    const reader = { ...request, t: texts.in(language), format: getFormatter(language, 'Asia/Jakarta'), language };
    const told = describeSoldOutNotice(
      reader as PageRequest,
      new Map([
        [1, { freeAt }],
        [7, { freeAt: undefined }],
      ]),
    );
    expect(told?.text.replaceAll('\u00a0', ' ')).toBe(text);
  });

  it('are each said to be sold out while another one is to be had', () => {
    const soldOut = new Map([[7, { freeAt }]]);
    expect(describeSoldOutNotice(request, soldOut)).toBeUndefined();
    expect(describePlans(request, true, soldOut)).toMatchObject([
      { buy: 'landing.buy 1' },
      { soldOut: 'landing.sold_out', buy: 'landing.wait' },
    ]);
    expect(describeFacts(request, false)).toContain('landing.active_soon');
  });
});
