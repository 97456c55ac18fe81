import type { Server } from '@hapi/hapi';
import { describe, expect, it } from 'vitest';
import { currencySection, plansSection } from '#core/accounts/plans.ts';
import type { Model } from '#core/catalog/catalog.ts';
import { listen } from '#core/config/sections.ts';
import type { Host } from '#core/host.ts';
import { type RouteStatus, routesReport } from '#core/model-call/route-status.ts';
import { keepProviders } from '#core/payments/connections.ts';
import type { PaymentProvider } from '#core/payments/payment-provider.ts';
import { paymentsSection } from '#core/payments/section.ts';
import { operatorsSection } from '#core/pages/operators.ts';
import type { AnyStageDefinition } from '#core/pipeline/stage.ts';
import { plugin } from '../../../plugins/landing/index.ts';
import { readYaml } from '../../core/accounts/yaml-fixture.ts';
import { FakeProvider } from '../../core/payments/fake-provider.ts';
import { pageAt, pageHost, servePages, testTexts } from '../../core/pages/page-fixture.ts';
import { hostOf, modelOf } from '../format/catalog-fixture.ts';

interface Home {
  readonly models?: readonly Model[];
  readonly service?: Partial<Host['service']>;
  readonly yaml?: string;
  /** Report of a plugin about routes; there is none when left out. */
  readonly statuses?: RouteStatus[];
  readonly hasSignIn?: boolean;
  readonly provider?: PaymentProvider;
}

const stage: AnyStageDefinition = { name: 'any', description: 'Any.', options: { type: 'object' }, create: () => ({}) };

/** A server with nothing but the front page. */
async function serve(home: Home = {}): Promise<Server> {
  const { models = [modelOf('test')], service = {}, yaml = '', statuses, hasSignIn = false, provider } = home;
  const sections = [listen, plansSection, currencySection, operatorsSection, paymentsSection];
  const config = readYaml(`pipeline: [any]\n${yaml}`, { sections, stages: [stage] });
  const bare = hostOf(models);
  const host = pageHost({
    catalog: bare.catalog,
    service: { ...bare.service, ...service },
    section: (section) => config.get(section),
  });
  if (provider !== undefined) keepProviders(host, new Map([[provider.name, provider]]));
  return servePages(host, async (server) => {
    if (statuses !== undefined) server.gateway.statusReport(routesReport(() => statuses));
    if (hasSignIn) server.gateway.page(pageAt('/sign-in'));
    server.gateway.texts(testTexts);
    await plugin.register(server);
  });
}

/** The page as a visitor sees it. */
async function pageOf(home?: Home, url = '/', headers: Record<string, string> = {}): Promise<string> {
  const server = await serve(home);
  return (await server.inject({ url, headers })).payload;
}

describe('the front page', () => {
  it.each([
    ['OpenAI', 'https://gateway.example/v1'],
    ['Anthropic', 'https://gateway.example'],
    ['Google', 'https://gateway.example'],
  ])('shows the base address for clients of %s', async (vendor, url) => {
    expect(await pageOf()).toMatch(new RegExp(`<dt>${vendor} clients.*?<dd><code>${url}</code>`));
  });

  it.each([
    ['', 'base_url=&quot;https://gateway.example/v1&quot;'],
    ['?sample=anthropic', 'base_url=&quot;https://gateway.example&quot;'],
    ['?sample=gemini', '&quot;base_url&quot;: &quot;https://gateway.example&quot;'],
    ['?sample=claude-code', 'ANTHROPIC_BASE_URL=&quot;https://gateway.example&quot;'],
    ['?sample=nonsense', 'base_url=&quot;https://gateway.example/v1&quot;'],
  ])('shows the lines to change for %s', async (query, line) => {
    expect(await pageOf({ models: [modelOf('one')] }, `/${query}`)).toContain(line);
  });

  it('lists every model with its name and its backup routes', async () => {
    const { routes } = modelOf('test');
    const two = modelOf('two', ['chat'], { displayName: 'Two!', routes: [routes[0]!, routes[0]!, routes[0]!] });
    const page = await pageOf({ models: [modelOf('one'), two] });
    const rows = [
      ...page.matchAll(/<tr><td><code>(.*?)<\/code><\/td><td>(.*?)<\/td><td class="number"[^>]*>(.*?)<\/td>/g),
    ];
    expect(rows.map((row) => row.slice(1))).toEqual([
      ['dp/one', '', '0'],
      ['dp/two', 'Two!', '2'],
    ]);
  });

  it('speaks of failover only when a model has a backup route', async () => {
    const { routes } = modelOf('test');
    const two = modelOf('two', ['chat'], { routes: [routes[0]!, routes[0]!] });
    const pages = [await pageOf({ models: [modelOf('one')] }), await pageOf({ models: [two] })];
    expect(pages.map((page) => page.includes('When a route fails'))).toEqual([false, true]);
  });

  it('says when there is no model', async () => {
    expect(await pageOf({ models: [] })).toContain('No models at the moment.');
  });

  it.each([
    ['currency: USD\nplans: [{ days: 7, price: 1999, label: a week }]', '$19.99', '$2.86 per day', 'a week'],
    ['plans: [{ days: 7, price: 95000 }]', 'Rp 95.000', 'Rp 13.571 per day', ''],
  ])('lists the plans of gateway.yaml with price and price per day: %s', async (yaml, price, perDay, label) => {
    const page = (await pageOf({ yaml })).replaceAll('\u00a0', ' ');
    expect(page).toContain(`<p class="price">${price}</p>`);
    expect(page).toContain(`<p class="soft">${perDay}</p>`);
    expect(page).toContain(`<p class="soft">${label}</p>`);
  });

  it('speaks Indonesian to readers who prefer it', async () => {
    const page = await pageOf({}, '/', { 'accept-language': 'id-ID,id;q=0.9,en;q=0.8' });
    expect(page).toMatch(/<html lang="id".*<h1>Satu API key untuk semua model, bayar per hari\.<\/h1>/s);
  });

  it('warns of a demo only when an upstream is one', async () => {
    const real = modelOf('test');
    const [route] = real.routes;
    const demo = modelOf('test', ['chat'], {
      routes: [{ ...route!, upstream: { ...route!.upstream, isDemo: true } }],
    });
    const pages = [await pageOf({ models: [real] }), await pageOf({ models: [demo] })];
    expect(pages.map((page) => page.includes('demo upstream'))).toEqual([false, true]);
  });

  it('offers to buy only where there are a sign-in and a payment provider', async () => {
    expect(await pageOf()).toContain('Keys are issued by the operator');
    expect(await pageOf({ hasSignIn: true })).toContain('Keys are issued by the operator');
    const page = await pageOf({ hasSignIn: true, provider: new FakeProvider('sandbox').provider });
    expect(page).toContain('<a class="button" href="/buy?days=7">Buy 7 days</a>');
    expect(page).not.toContain('Keys are issued by the operator');
  });

  it('has a contact only when there is one', async () => {
    expect(await pageOf()).not.toContain('Contact');
    expect(await pageOf({ service: { contact: 'mailto:a@b.example' } })).toContain('href="mailto:a@b.example"');
  });

  it('calls the service what gateway.yaml calls it, everywhere', async () => {
    const page = await pageOf({ service: { name: 'Kelas AI', prefix: 'kelas' } });
    expect(page).toMatch(/<title>[^<]* · Kelas AI<\/title>/);
    expect(page).not.toMatch(/daypass/i);
  });

  it('prints names from gateway.yaml as text', async () => {
    const evil = '<script>alert(1)</script>';
    const page = await pageOf({
      models: [modelOf(evil, ['chat'], { displayName: '"><img src=x>' })],
      service: { name: evil, contact: '"onclick="x' },
    });
    expect(page).not.toMatch(/<script>|<img|"onclick/);
  });

  it('shows no upstream', async () => {
    expect(await pageOf()).not.toMatch(/model-there|127\.0\.0\.1/);
  });

  it('has nothing inline that the policy would block', async () => {
    expect(await pageOf()).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|javascript:/);
  });
});

/** A request of somebody who is signed in. */
const signedIn = (isOperator: boolean) => ({
  auth: {
    strategy: 'session',
    credentials: { session: { id: 's', account: { id: 'a', name: 'Rani' }, isOperator } } as object,
  },
});

const seen = async (statuses: RouteStatus[], request: object = {}) =>
  (await serve({ statuses })).inject({ url: '/', ...signedIn(true), ...request });

/** Class and text of the item of the one route. */
const itemOf = (page: string) =>
  /<ol class="routes">\s*<li([^>]*)>([^]*?)<\/li>/
    .exec(page)
    ?.slice(1)
    .map((part) =>
      part
        .replace(/<\/?(?:code|strong|p|time)\b[^>]*>/g, '')
        .replace(/\s+/g, ' ')
        .trim(),
    );

describe('the routes on the front page of an operator', () => {
  const id = 'one/model-there';
  const until = '2026-01-01T00:00:05.000Z';
  const down: RouteStatus = { route: id, state: 'open', open_until: until, reason: 'route: 503 <b>down</b>' };

  it('are available as long as nothing else is known', async () => {
    expect(itemOf((await seen([])).payload)).toEqual(['', `${id} available`]);
  });

  it('are out of service until when and why', async () => {
    const { payload } = await seen([down], { headers: { cookie: 'dp_zone=Asia/Jakarta' } });
    expect(itemOf(payload)).toEqual([
      'class="out"',
      `${id} out of service until 1 Jan 2026, 07:00 GMT+7 route: 503 &lt;b&gt;down&lt;/b&gt;`,
    ]);
    expect(payload).toContain(`<time datetime="${until}">`);
  });

  it('wait for a request that probes them when their time is over', async () => {
    const { payload } = await seen([{ ...down, state: 'half_open', reason: 'route: 503' }]);
    expect(itemOf(payload)).toEqual(['class="out"', `${id} out of service; the next request probes it route: 503`]);
  });

  it('stand under each model in their order', async () => {
    const [first] = modelOf('test').routes;
    const models = [
      modelOf('a', ['chat'], { routes: [first!, { ...first!, id: 'two/m' }] }),
      modelOf('b', ['chat'], { routes: [{ ...first!, id: 'two/m' }] }),
    ];
    const { payload } = await (await serve({ models, statuses: [] })).inject({ url: '/', ...signedIn(true) });
    const [, section = ''] = payload.split('<h2>Routes</h2>');
    expect([...section.matchAll(/<code>(.*?)<\/code>/g)].map(([, name]) => name)).toEqual([
      'dp/a',
      id,
      'two/m',
      'dp/b',
      'two/m',
    ]);
  });

  it.each([
    ['a visitor on the same machine', { auth: undefined, remoteAddress: '127.0.0.1' }],
    ['an account that is not an operator', signedIn(false)],
  ])('are not shown to %s', async (_reader, request) => {
    expect((await seen([down], request)).payload).not.toMatch(/<h2>Routes|model-there|503/);
  });

  it('are kept by no cache between gateway and browser', async () => {
    expect((await seen([down])).headers['cache-control']).toBe('private, no-cache');
  });
});
