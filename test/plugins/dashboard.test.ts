import { type Server, server as createHapi } from '@hapi/hapi';
import { describe, expect, it } from 'vitest';
import { currencySection, plansSection } from '#core/accounts/plans.ts';
import type { Model } from '#core/catalog/catalog.ts';
import type { Host } from '#core/host.ts';
import type { AnyStageDefinition } from '#core/pipeline/stage.ts';
import { type RouteStatus, routesReport } from '#core/model-call/route-status.ts';
import { Registry } from '#core/extension/registry.ts';
import { plugin } from '../../plugins/dashboard/index.ts';
import { readYaml } from '../core/accounts/yaml-fixture.ts';
import { hostOf, modelOf } from './format/catalog-fixture.ts';

interface Home {
  readonly models?: readonly Model[];
  readonly service?: Partial<Host['service']>;
  readonly yaml?: string;
  /** What is said of routes; nothing is when left out. */
  readonly statuses?: RouteStatus[];
}

const stage: AnyStageDefinition = { name: 'any', description: 'Any.', options: { type: 'object' }, create: () => ({}) };

/** A server with nothing but the dashboard. */
async function serve({ models = [modelOf('test')], service = {}, yaml = '', statuses }: Home = {}): Promise<Server> {
  const config = readYaml(`pipeline: [any]\n${yaml}`, { sections: [plansSection, currencySection], stages: [stage] });
  const bare = hostOf(models);
  const host: Host = { ...bare, service: { ...bare.service, ...service }, section: (section) => config.get(section) };
  const hapi = createHapi();
  const gateway = new Registry();
  if (statuses !== undefined) gateway.statusReport(routesReport(() => statuses));
  await plugin.register(Object.assign(hapi, { host: () => host, gateway }));
  return hapi;
}

/** The page as somebody sees it who is not on the gateway's machine. */
async function pageOf(home?: Home): Promise<string> {
  return (await (await serve(home)).inject({ url: '/', remoteAddress: '192.0.2.1' })).payload;
}

describe('the front page', () => {
  it.each([
    ['OpenAI', 'https://gateway.example/v1'],
    ['Anthropic', 'https://gateway.example'],
    ['Google', 'https://gateway.example'],
  ])('shows where clients of %s connect', async (vendor, url) => {
    expect(await pageOf()).toMatch(new RegExp(`<dt>${vendor} clients.*?<dd><code>${url}</code>`));
  });

  it('lists every model', async () => {
    const page = await pageOf({ models: [modelOf('one'), modelOf('two')] });
    expect([...page.matchAll(/<li><code>(.*?)<\/code>/g)].map(([, id]) => id)).toEqual(['one', 'two']);
  });

  it('says when there is no model', async () => {
    expect(await pageOf({ models: [] })).toContain('None at the moment.');
  });

  it.each([
    [1, ''],
    [2, 'with 1 backup route'],
    [3, 'with 2 backup routes'],
  ])('says what stands behind a model of %i routes', async (count, note) => {
    const { routes } = modelOf('test');
    const model = modelOf('test', ['chat'], { routes: Array.from({ length: count }, () => routes[0]!) });
    expect(/<\/code> (.*)<\/li>/.exec(await pageOf({ models: [model] }))?.[1]).toBe(note);
  });

  it('lists the plans of gateway.yaml with their prices', async () => {
    const page = await pageOf({ yaml: 'currency: USD\nplans: [{ days: 7, price: 1999, label: a week }]' });
    expect(page).toContain('<tr><td>7</td><td>$19.99</td><td>a week</td></tr>');
  });

  it('says that it is a demo only when an upstream is one', async () => {
    const real = modelOf('test');
    const [route] = real.routes;
    const demo = modelOf('test', ['chat'], {
      routes: [{ ...route!, upstream: { ...route!.upstream, isDemo: true } }],
    });
    expect(
      [await pageOf({ models: [real] }), await pageOf({ models: [demo] })].map((page) =>
        page.includes('demo upstream'),
      ),
    ).toEqual([false, true]);
  });

  it('has a contact only when there is one', async () => {
    expect(await pageOf()).not.toContain('Contact');
    expect(await pageOf({ service: { contact: 'mailto:a@b.example' } })).toContain('href="mailto:a@b.example"');
  });

  it('prints names from gateway.yaml as text', async () => {
    const evil = '<script>alert(1)</script>';
    const page = await pageOf({
      models: [modelOf(evil, ['chat'], { displayName: '"><img src=x>' })],
      service: { name: evil, contact: '"onclick="x' },
    });
    expect(page).not.toMatch(/<script|<img|"onclick/);
  });

  it('shows no upstream', async () => {
    expect(await pageOf()).not.toMatch(/model-there|127\.0\.0\.1/);
  });

  it('loads nothing from elsewhere and is shown inside of nothing', async () => {
    const { headers } = await (await serve()).inject('/');
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect([headers['x-content-type-options'], headers['content-type']]).toEqual([
      'nosniff',
      'text/html; charset=utf-8',
    ]);
  });
});

const seen = async (statuses: RouteStatus[], request: object = { remoteAddress: '127.0.0.1' }) =>
  (await serve({ statuses })).inject({ url: '/', ...request });

/** The item of the one route, as text. */
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

describe('the routes on the front page', () => {
  const id = 'one/model-there';
  const until = '2026-01-01T00:00:05.000Z';
  const down: RouteStatus = { route: id, state: 'open', open_until: until, reason: 'route: 503 <b>down</b>' };

  it('are in service as long as nothing is known of them', async () => {
    expect(itemOf((await seen([])).payload)).toEqual(['', `${id} in service`]);
  });

  it('are left out until when and why', async () => {
    const { payload } = await seen([down]);
    expect(itemOf(payload)).toEqual([
      'class="out"',
      `${id} left out until 2026-01-01 00:00:05 UTC route: 503 &lt;b&gt;down&lt;/b&gt;`,
    ]);
    expect(payload).toContain(`<time datetime="${until}">`);
  });

  it('wait for a request that tries them when their time is over', async () => {
    const { payload } = await seen([{ ...down, state: 'half_open', reason: 'route: 503' }]);
    expect(itemOf(payload)).toEqual(['class="out"', `${id} left out; the next request tries it route: 503`]);
  });

  it('stand under each model in their order', async () => {
    const [first] = modelOf('test').routes;
    const models = [
      modelOf('a', ['chat'], { routes: [first!, { ...first!, id: 'two/m' }] }),
      modelOf('b', ['chat'], { routes: [{ ...first!, id: 'two/m' }] }),
    ];
    const { payload } = await (await serve({ models, statuses: [] })).inject('/');
    const [, section = ''] = payload.split('<h2>Routes</h2>');
    expect([...section.matchAll(/<code>(.*?)<\/code>/g)].map(([, name]) => name)).toEqual([
      'a',
      id,
      'two/m',
      'b',
      'two/m',
    ]);
  });

  it.each([
    ['elsewhere', { remoteAddress: '192.0.2.1' }],
    ['through a proxy', { remoteAddress: '127.0.0.1', headers: { 'x-forwarded-for': '192.0.2.1' } }],
  ])('are not shown to who looks from %s', async (_from, request) => {
    expect((await seen([down], request)).payload).not.toMatch(/Routes|model-there|503/);
  });

  it('are kept by no cache', async () => {
    expect((await seen([down])).headers['cache-control']).toBe('no-store');
  });
});

it('the style sheet is served, and may be kept for a while', async () => {
  const { statusCode, headers } = await (await serve()).inject('/assets/style.css');
  expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'text/css; charset=utf-8',
    'max-age=300',
  ]);
});
