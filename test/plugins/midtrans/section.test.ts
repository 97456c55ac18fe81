import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { plugin } from '../../../plugins/midtrans/index.ts';
import { midtransSection, getApiOrigin } from '../../../plugins/midtrans/section.ts';
import { providerOf } from '../payment-providers/fixture.ts';
import { describeProvider, mistakesOf } from '../payment-providers/section-fixture.ts';

describeProvider(plugin, midtransSection, ['server_key'], 200);

describe('midtrans in gateway.yaml', () => {
  it('is reached where its key belongs', () => {
    const settings = { acquirer: 'gopay' } as const;
    expect(getApiOrigin({ ...settings, server_key: 'SB-Mid-server-x' })).toBe('https://api.sandbox.midtrans.com');
    expect(getApiOrigin({ ...settings, server_key: 'Mid-server-x' })).toBe('https://api.midtrans.com');
  });

  it('needs a server key', async () => {
    expect(await mistakesOf(plugin, {})).toEqual(['payments.provider is midtrans, but midtrans.server_key is missing']);
    expect(await mistakesOf(plugin, { server_key: '' })).toEqual(['midtrans.server_key is empty']);
    expect(await mistakesOf(plugin, { server_key: 'SB-Mid-server-x' })).toEqual([]);
  });

  it('takes no key of the sandbox in production, where anyone could pay without money', async () => {
    expect(await mistakesOf(plugin, { server_key: 'SB-Mid-server-x' }, true)).toHaveLength(1);
    expect(await mistakesOf(plugin, { server_key: 'Mid-server-x' }, true)).toEqual([]);
  });

  it('takes no client key, with which every charge would be refused', async () => {
    for (const key of ['Mid-client-x', 'SB-Mid-client-x'])
      expect(await mistakesOf(plugin, { server_key: key })).toEqual([
        'midtrans.server_key is a client key, which can neither charge nor verify anything',
      ]);
  });

  it('connects to nothing without its key', async () => {
    const provider = await providerOf(plugin);
    expect(() => provider.connect(createTestHost())).toThrow('midtrans.server_key is missing');
  });
});
