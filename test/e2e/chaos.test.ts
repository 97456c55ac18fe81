import { expect, inject, it, vi } from 'vitest';
import { experiments } from '../chaos/experiments.ts';

// Several gateways run one after the other, and databases disconnect for seconds.
vi.setConfig({ testTimeout: 300_000 });

const postgres = {
  url: inject('postgresUrl'),
  templateDatabase: inject('templateDatabase'),
  [Symbol.asyncDispose]: async () => undefined,
};

/**
 * The short form of `npm run chaos`, a few dozen requests each. Left out are those that take most, and whose faults have tests of the
 * part: pipelining, tiny chunks and hostile JSON (`core/gateway/http`, `plugins/format/invariants`), a lost data folder (`plugins/log`),
 * name servers (`core/platform/names`), large bodies (`core/platform/memory`, `plugins/format/invariants`), answers that drip
 * (`plugins/upstream/routing`, `plugins/upstream/attempt`) and resumed ones (`e2e/resume.test.ts`).
 */
const names = new Set([
  'table',
  'records',
  'unwritable-database',
  'client-left',
  'resets',
  'descriptors',
  'burst',
  'silent-connections',
  'redis',
]);
const chosen = experiments.filter(({ name }) => names.has(name));

it.each(chosen)('the figures of the chaos experiment $name are met: $description', async (experiment) => {
  const figures = await experiment.run({ postgres, isShort: true, print: () => undefined });
  for (const { name, count, details, isMet, isTimed = false } of figures) {
    if (isTimed) continue;
    expect(details ?? [], name).toEqual([]);
    expect({ name, isMet, isTried: count > 0 }).toEqual({ name, isMet: true, isTried: true });
  }
});
