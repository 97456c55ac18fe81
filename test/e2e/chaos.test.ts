import { expect, inject, it, vi } from 'vitest';
import { experiments } from '../chaos/experiments.ts';

// Whole gateways run here, several in a row, and databases go away for seconds.
vi.setConfig({ testTimeout: 180_000 });

const postgres = {
  url: inject('postgresUrl'),
  templateDatabase: inject('templateDatabase'),
  [Symbol.asyncDispose]: async () => undefined,
};

/** The short form of `npm run chaos`: what is not in other tests, and needs no steady machine. */
const chosen = experiments.filter(({ name }) => ['table', 'records', 'client-left', 'burst'].includes(name));

it.each(chosen)('$name: $description', async (experiment) => {
  const figures = await experiment.run({ postgres, isShort: true, print: () => undefined });
  for (const { name, count, details, isMet, isTimed = false } of figures) {
    if (isTimed) continue;
    expect(details ?? [], name).toEqual([]);
    expect({ name, isMet, isTried: count > 0 }).toEqual({ name, isMet: true, isTried: true });
  }
});
