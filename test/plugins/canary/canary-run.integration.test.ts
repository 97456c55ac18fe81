import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { BaseConfiguration, VariantHooks } from '#core/extension/variants.ts';
import type { Variant } from '#core/gateway/http/open-exchange.ts';
import type { Database } from '#core/platform/database/database.ts';
import { Canaries } from '../../../plugins/canary/record/canaries.ts';
import { CanaryRun } from '../../../plugins/canary/run/canary-run.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(() => database.query('delete from configuration_canary'));

const wish = {
  baseDigest: 'base',
  text: 'x: 1',
  digest: 'new',
  salt: 's',
  share: 0.5,
  operator: 'ops',
  note: undefined,
};
const serving = { pipeline: { retire: () => Promise.resolve() } };

/** A canary of ten minutes on an instance that begins to serve so many minutes after its start. @param judged minutes before that */
async function comeBack(minutes: number, judged: number) {
  const canaries = new Canaries(database, { record: () => Promise.resolve() });
  await canaries.start({ ...wish, seconds: 600, firstLook: 1 });
  await database.query(
    `update configuration_canary set started_at = now() - make_interval(mins => ?), until = now() - make_interval(mins => ?),
       judge_after = now() - make_interval(mins => ?)`,
    [minutes, minutes - 10, judged],
  );
  let served: Variant | undefined;
  const kept = new Map<string, unknown>();
  const keep = (name: string, make: () => unknown) => kept.get(name) ?? kept.set(name, make()).get(name);
  const shared = { kind: 'memory', bus: { publish: () => Promise.resolve() } };
  const host = { database, log: silentLog, keep, shared, now: () => Date.now() };
  const hooks = {
    host: () => host,
    documents: { history: { record: () => Promise.resolve() } },
    serve: (variant: Variant | undefined) => void (served = variant),
    prepare: () => Promise.resolve(serving),
  };
  const run = new CanaryRun(hooks as unknown as VariantHooks);
  onTestFinished(() => run.close());
  await run.follow({ serving, digest: 'base', fileDigest: 'base' } as unknown as BaseConfiguration);
  const [last] = await canaries.list(1);
  return { isServed: served !== undefined, end: last?.end };
}

it.each([
  ['goes on within its time, after any pause', 5, 5, true],
  ['goes on after its time while it is judged', 60, 1, true],
  ['has ended when its time is long over and nobody has judged it', 60, 20, false],
])('a canary %s', async (_, minutes, judged, isServed) => {
  const found = await comeBack(minutes, judged);
  expect(found.isServed).toBe(isServed);
  expect(found.end).toEqual(
    isServed
      ? undefined
      : expect.objectContaining({ outcome: 'ended', reason: expect.stringContaining('its time was over') }),
  );
});
