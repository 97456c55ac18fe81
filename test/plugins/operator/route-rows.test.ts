import { describe, expect, it } from 'vitest';
import type { ModelHealth } from '#core/business/model-health/model-health.ts';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { ownTexts } from '#core/web/serving/own-parts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import type { RouteTraffic } from '../../../plugins/operator/route-traffic.ts';
import { describeRoutes } from '../../../plugins/operator/routes/route-rows.ts';
import en from '../../../plugins/operator/texts/en.json' with { type: 'json' };
import id from '../../../plugins/operator/texts/id.json' with { type: 'json' };

const now = Date.parse('2031-05-12T12:00:00Z');
const translator = new Translator([ownTexts, defineTexts({ en, id })]);

function catalogOf(models: Record<string, string[]>): Pick<Catalog, 'models'> {
  const entries = Object.entries(models);
  const described = entries.map(([name, routes]) => ({
    publicName: name,
    routes: routes.map((route) => ({ id: route })),
  }));
  return { models: described } as unknown as Catalog;
}

function rowsOf(
  models: Record<string, string[]>,
  statuses: RouteStatus[] = [],
  recent: RouteTraffic[] = [],
  language: 'en' | 'id' = 'en',
  least = 100,
  health: Pick<ModelHealth, 'id' | 'state'>[] = [],
  isTroubled = false,
): ReturnType<typeof describeRoutes> {
  const catalog = catalogOf(models) as Catalog;
  const reader = {
    t: translator.in(language),
    format: getFormatter(language, 'Asia/Jakarta'),
    host: { now: () => now } as Host,
  };
  return describeRoutes(
    { catalog },
    {
      models: health as ModelHealth[],
      statuses: new Map(statuses.map((one) => [one.route, one])),
      recent: { since: now, routes: new Map(recent.map((one) => [one.route, one])) },
    },
    reader,
    { minRows: least, isTroubleOnly: isTroubled },
  );
}

function troubledRows(models: Record<string, string[]>, statuses: RouteStatus[], recent: RouteTraffic[] = []) {
  return rowsOf(models, statuses, recent, 'en', 100, [], true).map(({ route }) => route);
}

function status(route: string, state: RouteStatus['state'], seconds = 0, more: Partial<RouteStatus> = {}): RouteStatus {
  return { route, state, open_until: new Date(now + seconds * 1_000).toISOString(), reason: null, ...more };
}

function traffic(route: string, change: Partial<RouteTraffic>): RouteTraffic {
  return {
    route,
    attempts: 0,
    served: 0,
    failed: 0,
    faults: {},
    lastServedAt: undefined,
    lastFault: undefined,
    models: new Map(),
    ...change,
  };
}

describe('the rows of routes', () => {
  it('say how a breaker is, and when an open one lets a request pass', () => {
    const states = [status('a/x', 'open', 22.4), status('b/x', 'half_open', -3), status('c/x', 'open', 300)];
    const texts = (language: 'en' | 'id') =>
      rowsOf({ 'dp/x': ['a/x', 'b/x', 'c/x', 'd/x'] }, states, [], language).map((row) =>
        row.status.text.replaceAll('\u00a0', ' '),
      );
    expect(texts('en')).toEqual([
      'Open, next probe in 23 s',
      'Half-open, not proven',
      'Open, next probe in 5 min',
      'Closed',
    ]);
    expect(texts('id')).toEqual([
      'Terbuka, dicoba lagi dalam 23 dtk',
      'Setengah terbuka, belum terbukti',
      'Terbuka, dicoba lagi dalam 5 mnt',
      'Tertutup',
    ]);
  });

  it('do not blame the model for a 404 that names none', () => {
    const unclear = status('a/x', 'no_model', 30, { reason: "no_model: 404: check base_url and the model's name" });
    const named = status('b/x', 'no_model', 30, { reason: 'no_model: The upstream responded with status 404.' });
    const texts = rowsOf({ 'dp/x': ['a/x', 'b/x'] }, [unclear, named]).map((row) => row.status.text);
    expect(texts.map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
      '404, next try in 30 s',
      'Model not found, next try in 30 s',
    ]);
  });

  it('name a model once, and leave out what is not known', () => {
    const [first, second] = rowsOf({ 'dp/x': ['a/x', 'b/x'] });
    expect(first).toMatchObject({
      model: 'dp/x',
      requests: '',
      failed: '',
      firstToken: '',
      fault: '',
      canReset: false,
    });
    expect(second).toMatchObject({ model: '', modelName: 'dp/x' });
  });

  it('show failures of the route, its speed, and its last fault without the kind before it', () => {
    const at = Date.parse('2031-05-12T07:31:00Z');
    const lastFault = { fault: 'route', at, error: `route: 503 overloaded ${'x'.repeat(100)}` };
    const models = new Map([['dp/x', { requests: 590, firstTokenMs: 712, cache: { read: 0.914, written: 0.03 } }]]);
    const [row] = rowsOf(
      { 'dp/x': ['a/x'] },
      [],
      [traffic('a/x', { attempts: 1_120, served: 590, failed: 410, models, lastFault })],
    );
    expect(row).toMatchObject({
      requests: '1,120',
      failed: '41.0%',
      firstToken: '0.71\u00a0s',
      fromCache: '91.4%',
      toCache: '3.0% written',
      faultAt: '14:31',
      canReset: false,
    });
    expect(row?.fault).toBe(`503 overloaded ${'x'.repeat(100)}`);
  });

  it('of a route of several models count its attempts for all of them, and what it served of each', () => {
    const models = { 'dp/x': ['a/x', 'b/x'], 'dp/y': ['a/x', 'c/x'], 'dp/z': ['a/x'] };
    const served = new Map([
      ['dp/x', { requests: 6, firstTokenMs: 712, cache: undefined }],
      ['dp/y', { requests: 2, firstTokenMs: 100, cache: { read: 0, written: 0 } }],
    ]);
    const recent = [traffic('a/x', { attempts: 9, models: served }), traffic('b/x', { attempts: 2 })];
    const rows = rowsOf(models, [], recent);
    expect(
      rows.map(({ requests, requestsOf, firstToken }) => `${requests} ${requestsOf} ${firstToken}`.trim()),
    ).toEqual([
      '9 6 served for this model 0.71\u00a0s',
      '2',
      '9 2 served for this model 0.10\u00a0s',
      '',
      '9 0 served for this model',
    ]);
  });

  it('tell of keys that cool down', () => {
    const [row] = rowsOf({ 'dp/x': ['a/x'] }, [status('a/x', 'closed', 0, { keys_cooling_down: 2 })]);
    expect(row).toMatchObject({ keys: '2 keys cooling down', canReset: true });
  });
});

describe('routes that are more than a page lists', () => {
  const models = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e'].map((name) => [`dp/${name}`, [`one/${name}`, `two/${name}`]]),
  );

  it('are those of models in trouble first, whichever stand first in gateway.yaml', () => {
    const slightly = traffic('one/b', { attempts: 200, served: 198, failed: 2 });
    const rows = rowsOf(models, [status('two/e', 'open', 10)], [slightly], 'en', 6);
    expect(rows.map(({ route }) => route)).toEqual(['one/e', 'two/e', 'one/b', 'two/b', 'one/a', 'two/a']);
  });

  it('are those of a model that is down before open breakers of others', () => {
    const rows = rowsOf(models, [status('two/e', 'open', 10)], [], 'en', 4, [{ id: 'dp/d', state: 'down' }]);
    expect(rows.map(({ modelName }) => modelName)).toEqual(['dp/d', 'dp/d', 'dp/e', 'dp/e']);
  });

  it('are left out where only those of models in trouble are asked for', () => {
    expect(troubledRows(models, [])).toEqual([]);
    expect(troubledRows(models, [status('two/e', 'open', 10)])).toEqual(['two/e']);
    const failing = traffic('one/b', { served: 99, failed: 1 });
    expect(troubledRows(models, [], [failing])).toEqual(['one/b']);
  });
});
