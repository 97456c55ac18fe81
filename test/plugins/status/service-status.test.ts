import { expect, it } from 'vitest';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { describeStatusJson } from '../../../plugins/status/json.ts';
import { readServiceStatus } from '../../../plugins/status/service-status.ts';
import { statusTexts } from '../../../plugins/status/texts.ts';

const gateway = { statusReports: new Map() } as never;
const models = [{ publicName: 'dp/a', routes: [] }];

it('the status shows incidents and days as they were while the database is frozen, and waits a second for it', async () => {
  let isFrozen = false;
  const answers: Readonly<Record<string, readonly object[]>> = {
    usage_hour: [{ model: 'a', day: '2031-05-11', answered: 9, failed: 1 }],
    incident: [{ id: 'one', model: 'dp/a', kind: 'down', cause: 'failing', started_at: 1, checked_at: 2, ended_at: 3 }],
  };
  const execute = async (sql: string) => {
    if (isFrozen) return new Promise<never>(() => undefined);
    return Object.entries(answers).find(([table]) => new RegExp(`from ${table}`, 'i').test(sql))?.[1] ?? [];
  };
  const catalog = { models, upstreams: [], resolve: () => models[0] } as unknown as Catalog;
  const database = { query: execute, fork: () => ({ execute }) } as never;
  const host = Object.assign(createTestHost({ now: Date.parse('2031-05-12T12:00:00Z'), catalog, database }));
  expect(await readServiceStatus(gateway, host)).toMatchObject({
    isComplete: true,
    hasHistory: true,
    incidents: [{ id: 'one' }],
  });
  isFrozen = true;
  host.clock.advance(700_000);
  const begun = performance.now();
  const status = await readServiceStatus(gateway, host);
  expect(performance.now() - begun).toBeLessThan(1_900);
  expect(status).toMatchObject({ isComplete: false, hasHistory: true, incidents: [{ id: 'one' }] });
  expect(status.models[0]?.days).toHaveLength(90);
  host.clock.advance(3_600_000);
  expect(await readServiceStatus(gateway, host)).toMatchObject({ isComplete: false, hasHistory: false, incidents: [] });
});

it('the status shows what the plugin that checks routes has published, without it nothing', async () => {
  const catalog = { models, upstreams: [], resolve: () => models[0] } as unknown as Catalog;
  const database = { query: async () => [], fork: () => ({ execute: async () => [] }) } as never;
  const host = createTestHost({ now: Date.parse('2031-05-12T12:00:00Z'), catalog, database });
  const checkup = { at: Date.parse('2031-05-12T02:00:00Z'), isPassed: true, isSameModel: false };
  const publishing = { statusReports: new Map(), checkupReader: async () => new Map([['dp/a', checkup]]) } as never;
  const t = new Translator([statusTexts]).in('en');
  const shown = async (registry: typeof gateway) => {
    const status = await readServiceStatus(registry, host);
    return (describeStatusJson(status, 'Daypass', t, 'en') as { models: readonly object[] }).models[0];
  };
  expect(await shown(publishing)).toMatchObject({
    probe: { at: '2031-05-12T02:00:00.000Z', status: 'passed', fingerprint: 'changed' },
  });
  expect(await shown(gateway)).not.toHaveProperty('probe');
});
