import { expect, inject, it, vi } from 'vitest';
import { paymentSoak } from '../payments/soak.ts';
import { redisUrl } from '../support/redis.ts';

// Two gateways are started, and twice another one in the place of one that was killed.
vi.setConfig({ testTimeout: 400_000 });

const postgres = {
  url: inject('postgresUrl'),
  templateDatabase: inject('templateDatabase'),
  [Symbol.asyncDispose]: async () => undefined,
};

it.skipIf(redisUrl === undefined)(paymentSoak.description, async () => {
  const figures = await paymentSoak.run({ postgres, isShort: true, print: () => undefined });
  for (const { name, count, details, isMet, isTimed = false } of figures) {
    if (isTimed) continue;
    expect(details ?? [], name).toEqual([]);
    expect({ name, isMet, isTried: count > 0 }).toEqual({ name, isMet: true, isTried: true });
  }
});
