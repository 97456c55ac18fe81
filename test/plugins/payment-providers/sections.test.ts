import { describe, expect, it } from 'vitest';
import type { CheckContext } from '#core/config/section.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { Ajv } from 'ajv';
import { plugin as midtrans } from '../../../plugins/midtrans/index.ts';
import { midtransSection, originOf } from '../../../plugins/midtrans/section.ts';
import { plugin as xendit } from '../../../plugins/xendit/index.ts';
import { callsPerSecond, xenditSection } from '../../../plugins/xendit/section.ts';
import { providerOf } from './fixture.ts';

const plugins = { midtrans, xendit };

/** Mistakes that a provider finds when gateway.yaml selects it. */
async function mistakesOf(name: keyof typeof plugins, settings: object, isProduction = false, isValid = true) {
  const host = createTestHost({ sections: { [name]: settings } });
  const found: string[] = [];
  const production = isProduction ? { because: 'in a test', unless: '' } : undefined;
  const context = { get: host.section, isValid: () => isValid, isProduction, production } as unknown as CheckContext;
  const report = (path: readonly (string | number)[], wrong: string) => void found.push(`${path.join('.')} ${wrong}`);
  (await providerOf(plugins[name])).check?.(context, report);
  return found;
}

describe.each([
  { section: midtransSection, secrets: ['server_key'], longest: 200 },
  { section: xenditSection, secrets: ['secret_key', 'webhook_token'], longest: 300 },
])('the section $section.name', ({ section, secrets, longest }) => {
  const isValid = new Ajv({ strict: false }).compile(section.schema);

  it('marks its secrets, which are then shown nowhere', () => {
    const properties = Object.entries(section.schema.properties as Readonly<Record<string, JsonSchema>>);
    expect(properties.filter(([, { writeOnly }]) => writeOnly === true).map(([name]) => name)).toEqual(secrets);
  });

  it.each(secrets)('takes %s as providers write it, and no text with a space or without end', (name) => {
    expect(isValid({ [name]: `Mid_server-${'x'.repeat(longest - 11)}` })).toBe(true);
    expect(isValid({ [name]: 'x'.repeat(longest + 1) })).toBe(false);
    expect(isValid({ [name]: 'a b' })).toBe(false);
  });

  it('has no member that nobody reads', () => {
    expect(isValid({ serverkey: 'x' })).toBe(false);
  });

  it('takes another origin of the API for tests only', () => {
    const settings = { base_url: 'http://127.0.0.1:9' };
    const found = (production?: object) => {
      const paths: string[] = [];
      const report = (path: readonly (string | number)[]) => void paths.push(path.join('.'));
      section.check?.(settings as never, report, { production } as unknown as CheckContext);
      return paths;
    };
    expect(found()).toEqual([]);
    expect(found({ because: 'in a test', unless: '' })).toEqual([`${section.name}.base_url`]);
  });
});

describe('midtrans in gateway.yaml', () => {
  it('is reached where its key belongs', () => {
    const settings = { acquirer: 'gopay' } as const;
    expect(originOf({ ...settings, server_key: 'SB-Mid-server-x' })).toBe('https://api.sandbox.midtrans.com');
    expect(originOf({ ...settings, server_key: 'Mid-server-x' })).toBe('https://api.midtrans.com');
  });

  it('needs a server key', async () => {
    expect(await mistakesOf('midtrans', {})).toEqual([
      'payments.provider is midtrans, and midtrans.server_key is missing',
    ]);
    expect(await mistakesOf('midtrans', { server_key: '' })).toEqual(['midtrans.server_key is empty']);
    expect(await mistakesOf('midtrans', { server_key: 'SB-Mid-server-x' })).toEqual([]);
  });

  it('takes no key of the sandbox in production, where anyone could pay without money', async () => {
    expect(await mistakesOf('midtrans', { server_key: 'SB-Mid-server-x' }, true)).toHaveLength(1);
    expect(await mistakesOf('midtrans', { server_key: 'Mid-server-x' }, true)).toEqual([]);
  });

  it('takes no client key, with which every charge would be refused', async () => {
    for (const key of ['Mid-client-x', 'SB-Mid-client-x'])
      expect(await mistakesOf('midtrans', { server_key: key })).toEqual([
        'midtrans.server_key is a client key, which can neither charge nor verify anything',
      ]);
  });

  it('declares what a QRIS payment may cost', async () => {
    for (const plugin of [midtrans, xendit])
      expect(await providerOf(plugin)).toMatchObject({ currencies: ['IDR'], amounts: { least: 1, most: 10_000_000 } });
  });

  it('connects to nothing without its key', async () => {
    const provider = await providerOf(midtrans);
    expect(() => provider.connect(createTestHost())).toThrow('midtrans.server_key is missing');
  });
});

describe('xendit in gateway.yaml', () => {
  const settings = { secret_key: 'xnd_development_x', webhook_token: 'token' };

  it('is called as often as its mode allows', () => {
    expect(callsPerSecond(settings)).toBe(1);
    expect(callsPerSecond({ ...settings, secret_key: 'xnd_production_x' })).toBe(10);
  });

  it.each(['midtrans', 'xendit'] as const)(
    'of %s misses nothing while the section itself is malformed',
    async (name) => {
      expect(await mistakesOf(name, {}, false, false)).toEqual([]);
    },
  );

  it('needs a secret key and the token of its webhooks', async () => {
    expect(await mistakesOf('xendit', {})).toEqual([
      'payments.provider is xendit, and xendit.secret_key is missing',
      'payments.provider is xendit, and xendit.webhook_token is missing',
    ]);
    expect(await mistakesOf('xendit', { ...settings, webhook_token: '' })).toEqual(['xendit.webhook_token is empty']);
    expect(await mistakesOf('xendit', settings)).toEqual([]);
  });

  it('takes no key of the test mode in production', async () => {
    expect(await mistakesOf('xendit', settings, true)).toHaveLength(1);
    expect(await mistakesOf('xendit', { ...settings, secret_key: 'xnd_production_x' }, true)).toEqual([]);
  });

  it('connects to nothing without its secrets', async () => {
    const provider = await providerOf(xendit);
    for (const name of ['secret_key', 'webhook_token'])
      expect(() => provider.connect(createTestHost({ sections: { xendit: { ...settings, [name]: '' } } }))).toThrow(
        `xendit.${name} is missing`,
      );
  });
});
