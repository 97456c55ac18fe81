import { type Server, server as createHapi } from '@hapi/hapi';
import { describe, expect, it } from 'vitest';
import { currencySection, plansSection } from '#core/accounts/plans.ts';
import type { Model } from '#core/catalog.ts';
import type { Host } from '#core/host.ts';
import type { AnyStageDefinition } from '#core/pipeline/stage.ts';
import { plugin } from '../../plugins/dashboard/index.ts';
import { readYaml } from '../core/accounts/gateway-yaml.ts';
import { hostOf, modelOf } from './format/catalog-fixture.ts';

interface Home {
  readonly models?: readonly Model[];
  readonly service?: Partial<Host['service']>;
  readonly yaml?: string;
}

const stage: AnyStageDefinition = { name: 'any', description: 'Any.', options: { type: 'object' }, create: () => ({}) };

/** A server with nothing but the dashboard. */
async function serve({ models = [modelOf('test')], service = {}, yaml = '' }: Home = {}): Promise<Server> {
  const config = readYaml(`pipeline: [any]\n${yaml}`, { sections: [plansSection, currencySection], stages: [stage] });
  const bare = hostOf(models);
  const host: Host = { ...bare, service: { ...bare.service, ...service }, section: (section) => config.get(section) };
  const hapi = createHapi();
  await plugin.register(Object.assign(hapi, { host: () => host }));
  return hapi;
}

async function pageOf(home?: Home): Promise<string> {
  return (await (await serve(home)).inject('/')).payload;
}

describe('the front page', () => {
  it('shows where clients of both families connect', async () => {
    const page = await pageOf();
    expect(page).toContain('<code>https://gateway.example/v1</code>');
    expect(page).toContain('<code>https://gateway.example</code>');
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

it('the style sheet is served, and may be kept for a while', async () => {
  const { statusCode, headers } = await (await serve()).inject('/assets/style.css');
  expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'text/css; charset=utf-8',
    'max-age=300',
  ]);
});
