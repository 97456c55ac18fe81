import { expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { balanceEndpoints, findEndpoint } from '../../../plugins/balances/vendor-balances.ts';
import { vendors } from '../../../plugins/upstream/vendors.ts';

const at = (baseUrl: string, vendor?: string) => findEndpoint({ baseUrl, vendor });
function read(baseUrl: string, answer: JsonObject) {
  return at(baseUrl)?.read(answer, new URL(baseUrl).hostname);
}

it.each([
  [
    'https://api.deepseek.com/v1',
    {
      is_available: true,
      balance_infos: [
        { currency: 'CNY', total_balance: '110.00', granted_balance: '10.00', topped_up_balance: '100.00' },
      ],
    },
    { amount: 110, currency: 'CNY', isAvailable: true },
  ],
  [
    'https://api.deepseek.com/v1',
    {
      is_available: false,
      balance_infos: [
        { currency: 'CNY', total_balance: '0.00' },
        { currency: 'USD', total_balance: '0.01' },
      ],
    },
    { amount: 0.01, currency: 'USD', isAvailable: false },
  ],
  [
    'https://openrouter.ai/api/v1',
    { data: { label: 'sk-or-v1-au7...890', limit: 100, limit_remaining: 74.5, usage: 25.5 } },
    { amount: 74.5, currency: 'USD' },
  ],
  ['https://openrouter.ai/api/v1', { data: { limit: null, limit_remaining: null, usage: 25.5 } }, undefined],
  [
    'https://api.moonshot.cn/v1',
    { code: 0, data: { available_balance: 49.58894, voucher_balance: 46.58893, cash_balance: 3.00001 }, status: true },
    { amount: 49.58894, currency: 'CNY', isAvailable: true },
  ],
  [
    'https://api.moonshot.ai/v1',
    { code: 0, data: { available_balance: 0, voucher_balance: 0, cash_balance: -3 }, status: true },
    { amount: 0, currency: 'USD', isAvailable: false },
  ],
  [
    'https://api.siliconflow.cn/v1',
    { code: 20000, status: true, data: { balance: '0.88', chargeBalance: '88.00', totalBalance: '88.88' } },
    { amount: 88.88, currency: 'CNY' },
  ],
  [
    'https://api.novita.ai/v3/openai',
    { availableBalance: '1000000', cashBalance: '800000', creditLimit: '200000' },
    { amount: 100, currency: 'USD' },
  ],
])('the balance at %s is read as the vendor documents it (%#)', (baseUrl, answer, expected) => {
  expect(read(baseUrl, answer as JsonObject)).toEqual(expected);
});

it('an answer of another shape is no balance', () => {
  const shapes: JsonObject[] = [
    {},
    { data: null },
    { data: 'x' },
    { balance_infos: {} },
    { data: { totalBalance: 'much' } },
  ];
  for (const { hosts } of balanceEndpoints)
    for (const shape of shapes) expect(read(`https://${hosts[0]}/v1`, shape)).toBeUndefined();
});

it('an upstream has the endpoint of its preset or host, and no other', () => {
  expect(at('https://egress.example/v1', 'deepseek')?.vendor).toBe('DeepSeek');
  expect(at('https://api.siliconflow.com/v1')?.vendor).toBe('SiliconFlow');
  expect(at('https://api.deepseek.com.evil.example/v1')).toBeUndefined();
  expect(at('https://api.openai.com/v1', 'openai')).toBeUndefined();
});

it('every endpoint names presets that exist, the page that documents it and the day on which it was read', () => {
  const known = new Set(vendors.map(({ name }) => name));
  for (const { presets, path, source, seen } of balanceEndpoints) {
    expect(presets.filter((preset) => !known.has(preset))).toEqual([]);
    expect([path, source, seen]).toEqual([
      expect.stringMatching(/^\/\/[a-z]/),
      expect.stringMatching(/^https:\/\//),
      expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    ]);
  }
});
