import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { companyStep } from '../../../plugins/receipts/checkout.ts';

const t = (key: string, values: object = {}) => `${key} ${JSON.stringify(values)}`;

async function sentenceWith(seller: object) {
  const host = createTestHost({ sections: { seller } });
  return (await companyStep.show({ host, t } as unknown as PageRequest))?.sentence?.[0]?.text;
}

it.each([
  ['the tax of today', { name: 'PPN', rate: 12 }, 'receipts.prices_include {"tax":"PPN"}'],
  ['no tax', 'none', undefined],
  ['a tax that has not begun', { name: 'PPN', rate: 12, from: '2999-01-01' }, undefined],
])('buyers read before paying that prices include %s', async (_, tax, said) => {
  expect(await sentenceWith({ name: 'Rani', address: 'Jl. Melati 1', npwp: '1234567890123456', tax })).toBe(said);
});
