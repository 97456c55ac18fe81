import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  confirmIncident,
  listIncidents,
  readCurrentIncidents,
  removeOldIncidents,
} from '#core/business/model-health/incident-store.ts';
import { readModelHealth } from '#core/business/model-health/model-health.ts';
import { watchModels } from '#core/business/model-health/watch.ts';
import type { Catalog, Model } from '#core/config/catalog/catalog.ts';
import { createTestHost, type TestHost } from '#core/extension/testing/test-host.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { RecordBook } from '../../gateway/records/record-fixture.ts';

const start = Date.UTC(2031, 4, 12, 12);
const minute = 60_000;

let database: Database;
let now: number;
let states: Record<string, RouteStatus['state']>;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.query('DELETE FROM incident');
  now = start;
  states = {};
});

function modelNamed(id: string): Model {
  const routes = [`main/${id}`, `backup/${id}`].map((route) => ({ id: route }));
  return { id, publicName: `dp/${id}`, displayName: id, routes } as unknown as Model;
}

function catalogOf(...ids: string[]): Catalog {
  const models = ids.map(modelNamed);
  const aliases = new Map(models.map((model) => [`alias-${model.id}`, model]));
  const resolve = (name: string) => models.find(({ publicName }) => publicName === name) ?? aliases.get(name);
  return {
    models,
    listed: [],
    upstreams: [],
    unavailable: [],
    resolve,
    suggest: () => undefined,
    isUnavailable: () => false,
  };
}

const gateway = {
  statusReports: new Map([
    [
      'routes',
      {
        name: 'routes',
        report: (): RouteStatus[] =>
          Object.entries(states).map(([route, state]) => ({ route, state, open_until: null, reason: 'secret' })),
      },
    ],
  ]),
};

/** An instance that has just started. */
function instance(...ids: string[]): TestHost {
  return Object.assign(createTestHost({ database, catalog: catalogOf(...ids) }), { now: () => now });
}

async function watch(host: TestHost, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 15) {
    now += 15_000;
    await watchModels(gateway, host);
  }
}

const incidents = () => listIncidents(database, { since: start - minute, limit: 100 });

describe('incidents', () => {
  it('survive a restart, and end once a route has responded', async () => {
    states = { 'main/a': 'open', 'backup/a': 'open' };
    await watch(instance('a', 'b'), 60);
    const [open] = await incidents();
    expect(open).toMatchObject({ model: 'dp/a', kind: 'down', cause: 'routes_out', startedAt: start + 15_000 });
    expect(open?.endedAt).toBeUndefined();
    states = {};
    await watch(instance('a', 'b'), 6 * 60);
    // A restart has closed the breakers, which proves nothing.
    expect(await incidents()).toMatchObject([{ id: open?.id, calmSince: undefined, endedAt: undefined }]);
    const served = now;
    await new RecordBook(database).write({ model: 'dp/a', started_at: served, first_content_ms: 200 });
    await watch(instance('a', 'b'), 6 * 60);
    expect(await incidents()).toMatchObject([{ id: open?.id, endedAt: served + 15_000 }]);
  });

  it('are opened once by instances that watch at the same time', async () => {
    states = { 'main/a': 'open', 'backup/a': 'open' };
    const hosts = [instance('a'), instance('a'), instance('a')];
    for (let round = 0; round < 4; round++) {
      now += 15_000;
      await Promise.all(hosts.map((host) => watchModels(gateway, host)));
    }
    expect(await incidents()).toHaveLength(1);
  });

  it('end with a model that is no longer offered', async () => {
    states = { 'main/a': 'open', 'backup/a': 'open' };
    await watch(instance('a'), 60);
    await watch(instance('b'), 15);
    expect(await incidents()).toMatchObject([{ model: 'dp/a', endedAt: start + 60_000, isRemoved: true }]);
  });

  it('are found in failing requests, those by alias included, and name their worst minute', async () => {
    const failed = { model: 'alias-c', outcome: 'failed', status: 502 } as const;
    await new RecordBook(database).write(
      ...Array.from({ length: 12 }, () => ({ ...failed, started_at: start })),
      ...Array.from({ length: 4 }, () => ({ model: 'dp/c', started_at: start })),
      ...Array.from({ length: 50 }, () => ({ ...failed, started_at: start - 10 * minute })),
    );
    await watch(instance('c'), 60);
    expect(await incidents()).toMatchObject([{ model: 'dp/c', kind: 'down', cause: 'failing', lowestAnswered: 0.25 }]);
  });

  it('are down when a probe of every route has failed too, which later observations keep', async () => {
    const failed = { model: 'dp/e', outcome: 'failed', status: 502, started_at: start } as const;
    await new RecordBook(database).write(failed, failed, failed);
    await watch(instance('e'), 60);
    expect(await incidents()).toEqual([]);
    const [suspected] = await readCurrentIncidents(database.fork());
    await confirmIncident(database, suspected!, now);
    await watch(instance('e'), 60);
    expect(await incidents()).toMatchObject([{ kind: 'down', cause: 'failing', confirmedAt: start + 60_000 }]);
  });

  it('are not opened for requests that the gateway had no memory or connection for', async () => {
    const book = new RecordBook(database);
    for (const fault of ['memory', 'local'] as const) {
      const attempt = { route: 'main/d', startedAt: 0, duration: 1, outcome: 'failed', fault } as const;
      const failed = { model: 'dp/d', outcome: 'failed', status: 503, attempts: [attempt], started_at: start } as const;
      await book.write(...Array.from({ length: 12 }, () => failed));
    }
    await watch(instance('d'), 60);
    expect(await incidents()).toEqual([]);
  });

  it('are removed after 400 days by both clocks', async () => {
    states = { 'main/a': 'open', 'backup/a': 'open' };
    await watch(instance('a'), 60);
    states = {};
    await new RecordBook(database).write({ model: 'dp/a', started_at: now, first_content_ms: 200 });
    await watch(instance('a'), 6 * 60);
    const leftAfter = async (days: number, instanceAheadDays: number) => {
      await database.query(
        `update incident set started_at = moved, ended_at = moved
         from (select clock_timestamp() - make_interval(days => ?) as moved)`,
        [days],
      );
      await removeOldIncidents(database, Date.now() + instanceAheadDays * 24 * 60 * minute);
      return (await database.query('select from incident')).length;
    };
    expect(await leftAfter(399, 0)).toBe(1);
    expect(await leftAfter(399, 365)).toBe(1);
    expect(await leftAfter(401, -365)).toBe(1);
    expect(await leftAfter(401, 0)).toBe(0);
  });
});

describe('the health of models', () => {
  it('distinguishes working models from unused ones', async () => {
    await new RecordBook(database).write({ model: 'dp/used', started_at: start - 30 * minute, first_content_ms: 700 });
    const health = await readModelHealth(gateway, instance('used', 'fresh'));
    expect(health.map(({ id, state }) => [id, state])).toEqual([
      ['dp/used', 'working'],
      ['dp/fresh', 'no_data'],
    ]);
    expect(health[0]?.firstTokenMs).toBeGreaterThan(650);
    expect(health[0]?.firstTokenMs).toBeLessThan(750);
  });

  it('does not take a model for unused whose requests all failed, after its incident was removed with it', async () => {
    const failed = { outcome: 'failed', status: 503, first_content_ms: null } as const;
    await new RecordBook(database).write({ model: 'dp/never', started_at: start - 30 * minute, ...failed });
    expect(await readModelHealth(gateway, instance('never'))).toMatchObject([{ state: 'unknown', trouble: undefined }]);
  });

  it('says since when a model is down', async () => {
    states = { 'main/a': 'open', 'backup/a': 'no_model' };
    const host = instance('a');
    await watch(host, 60);
    expect(await readModelHealth(gateway, host)).toMatchObject([
      { state: 'down', trouble: { cause: 'routes_out' }, since: start + 15_000 },
    ]);
  });

  it('follows the breakers alone while the database does not respond', async () => {
    states = { 'main/a': 'open', 'backup/a': 'open' };
    const away = { query: () => Promise.reject(new Error('connection refused')) };
    const host = Object.assign(instance('a', 'b'), { database: away });
    const health = await readModelHealth(gateway, host);
    expect(health.map(({ state, traffic }) => [state, traffic])).toEqual([
      ['down', undefined],
      ['working', undefined],
    ]);
  });
});
