import { expect, it } from 'vitest';
import { Registry } from '#core/extension/registry.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { plugin } from '../../../plugins/payments/index.ts';

const sections = {
  payments: { provider: 'midtrans', gifts: true },
  plans: [{ days: 7, price: 95_000, max_active: 3 }],
};

/** What `daypass check` warns of, with the tables of these plugins. */
async function notices(plugins: readonly string[], written: Readonly<Record<string, unknown>> = sections) {
  const registry = new Registry();
  for (const name of plugins) registry.tables({ name, entities: () => Promise.resolve([]) });
  await plugin.register({ gateway: registry, route: () => undefined } as never, {} as never);
  return registry.configReviews[0]?.describe(createTestHost({ sections: written }))?.notice;
}

it('what is configured for a plugin that is not there is noted with its name', async () => {
  expect(await notices(['voucher', 'sales'])).toEqual([]);
  expect(await notices(['sales'])).toEqual([expect.stringMatching(/^payments\.gifts .* plugin vouchers/)]);
  expect(await notices(['voucher'])).toEqual([expect.stringMatching(/^max_active .* plugin sales/)]);
  expect(
    await notices([], { payments: { provider: 'midtrans', gifts: false }, plans: [{ days: 7, price: 1 }] }),
  ).toEqual([]);
});
