import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { plugin } from '../../../plugins/xendit/index.ts';
import { getCallsPerSecond, xenditSection } from '../../../plugins/xendit/section.ts';
import { providerOf } from '../payment-providers/fixture.ts';
import { describeProvider, mistakesOf } from '../payment-providers/section-fixture.ts';

describeProvider(plugin, xenditSection, ['secret_key', 'webhook_token'], 300);

describe('xendit in gateway.yaml', () => {
  const settings = { secret_key: 'xnd_development_x', webhook_token: 'token' };

  it('is called as often as its mode allows', () => {
    expect(getCallsPerSecond(settings)).toBe(1);
    expect(getCallsPerSecond({ ...settings, secret_key: 'xnd_production_x' })).toBe(10);
  });

  it('needs a secret key and the token of its webhooks', async () => {
    expect(await mistakesOf(plugin, {})).toEqual([
      'payments.provider is xendit, but xendit.secret_key is missing',
      'payments.provider is xendit, but xendit.webhook_token is missing',
    ]);
    expect(await mistakesOf(plugin, { ...settings, webhook_token: '' })).toEqual(['xendit.webhook_token is empty']);
    expect(await mistakesOf(plugin, settings)).toEqual([]);
  });

  it('takes no key of the test mode in production', async () => {
    expect(await mistakesOf(plugin, settings, true)).toHaveLength(1);
    expect(await mistakesOf(plugin, { ...settings, secret_key: 'xnd_production_x' }, true)).toEqual([]);
  });

  it('connects to nothing without its secrets', async () => {
    const provider = await providerOf(plugin);
    for (const name of ['secret_key', 'webhook_token'])
      expect(() => provider.connect(createTestHost({ sections: { xendit: { ...settings, [name]: '' } } }))).toThrow(
        `xendit.${name} is missing`,
      );
  });
});
