import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { providerTitles } from '#core/business/accounts/provider-titles.ts';
import type { CheckContext } from '#core/config/section.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { keepFixed } from '#core/extension/validation/fixed-members.ts';
import { localSignInSection } from '../../../plugins/sign-in/local-section.ts';
import { listProviders, type ProviderSettings, signInSection } from '../../../plugins/sign-in/section.ts';

const app = (change: Partial<ProviderSettings> = {}): ProviderSettings => ({
  client_id: 'id',
  client_secret: 'secret',
  trust_email: false,
  ...change,
});

const productionIf = (isProduction: boolean) => (isProduction ? { because: 'in a test', unless: '' } : undefined);

function mistakes(providers: Record<string, ProviderSettings>, isProduction = false, baseUrl = 'https://ai.example') {
  const found: string[] = [];
  const get = (section: unknown) => (section === service ? { base_url: baseUrl } : undefined);
  const context = { get, isProduction, production: productionIf(isProduction) } as unknown as CheckContext;
  signInSection.check?.(providers, (path, wrong) => void found.push(`${path.join('.')} ${wrong}`), context);
  return found;
}

describe('sign_in', () => {
  it('knows the providers of bell', () => {
    const bell = createRequire(import.meta.url)('@hapi/bell') as { providers: object };
    expect(Object.keys(providerTitles).toSorted()).toEqual(Object.keys(bell.providers).toSorted());
  });

  it('takes providers with both credentials, or with neither', () => {
    expect(mistakes({ google: app(), github: app({ client_id: '', client_secret: '' }) })).toEqual([]);
  });

  it.each([
    [{ client_id: '' }, 'sign_in.google.client_id is empty'],
    [{ client_secret: '' }, 'sign_in.google.client_secret is empty'],
  ])('refuses %j', (change, mistake) => {
    expect(mistakes({ google: app(change) })).toEqual([mistake]);
  });

  it('refuses a provider that does not exist', () => {
    expect(mistakes({ gogle: app() })).toEqual(['sign_in.gogle is not a known provider']);
    expect(mistakes({ constructor: app() })).toEqual(['sign_in.constructor is not a known provider']);
  });

  it.each([
    ['auth0', { domain: 'acme.eu.auth0.com' }, []],
    ['auth0', {}, ['sign_in.auth0.config.domain is missing']],
    ['auth0', { domain: 'https://acme.auth0.com' }, ['sign_in.auth0.config.domain is not a host name']],
    ['okta', { uri: 'https://acme.okta.com', authorizationServerId: 'a' }, []],
    ['okta', { uri: 'acme.okta.com' }, ['sign_in.okta.config.uri is not a URL']],
    ['okta', { uri: 'https://acme.okta.com', url: 'x' }, ['sign_in.okta.config.url is not a known key']],
    ['pingfed', {}, ['sign_in.pingfed.config.uri is missing']],
    ['trakt', {}, []],
    ['gitlab', { whatever: 'bell has no list of its keys' }, []],
  ])('checks what %s needs: %j', (name, config, wrong) => {
    expect(mistakes({ [name]: app({ config }) })).toEqual(wrong);
  });

  it.each(['googleplus', 'instagram', 'live', 'meetup', 'nest', 'pinterest', 'tumblr'])(
    'refuses %s, with which nobody can sign in, unless it is off',
    (name) => {
      expect(mistakes({ [name]: app() })).toEqual([expect.stringContaining(`sign_in.${name} cannot sign anybody in`)]);
      expect(mistakes({ [name]: app({ client_id: '', client_secret: '' }) })).toEqual([]);
    },
  );

  it('refuses Salesforce without the profile that says who signs in', () => {
    expect(mistakes({ salesforce: app({ config: { extendedProfile: 'false' } }) })).toEqual([
      'sign_in.salesforce.config.extendedProfile leaves out who signs in',
    ]);
  });

  it.each([
    ['auth0', 'domain: example.auth0.com'],
    ['okta', 'uri: https://id.example.com'],
  ])('gives an example of what %s needs', (name, example) => {
    const advice: unknown[] = [];
    const report = (_path: unknown, _wrong: string, help?: string) => void advice.push(help);
    signInSection.check?.({ [name]: app() }, report, { isProduction: false } as CheckContext);
    expect(advice).toEqual([expect.stringContaining(`add config: { ${example} }`)]);
  });

  it('does not check what a provider needs that is off', () => {
    expect(mistakes({ auth0: app({ client_id: '', client_secret: '' }) })).toEqual([]);
  });

  it('stays as it is in a running gateway, which has the routes of its providers', () => {
    const [running, next] = [{ google: app() }, { github: app() }].map((value) => ({ get: () => value }));
    const { config, postponed } = keepFixed(next as never, running as never, [signInSection]);
    expect(postponed).toEqual(['sign_in']);
    expect(config.get(signInSection)).toEqual({ google: app() });
  });

  it.each([
    [
      'other endpoints',
      app({ endpoints: { token: 'https://x.example' } }),
      'sign_in.google.endpoints is for tests, and not allowed in a test',
    ],
    [
      'a provider without HTTPS',
      app({ config: { uri: 'http://x.example' } }),
      'sign_in.google.config.uri is not HTTPS',
    ],
  ])('refuses %s in production only', (_what, settings, mistake) => {
    expect(mistakes({ google: settings }, true)).toEqual([mistake]);
    expect(mistakes({ google: settings })).toEqual([]);
  });

  it('requires the public URL in production', () => {
    expect(mistakes({ google: app() }, true, '')).toEqual([
      'sign_in.google sends people back to service.base_url, which is not set',
    ]);
    expect(mistakes({ google: app({ client_id: '', client_secret: '' }) }, true, '')).toEqual([]);
  });

  it('offers providers with a client id, by their usual name or the given one', () => {
    const section = (() => ({ github: app(), google: app({ client_id: '' }), okta: app({ title: 'Work' }) })) as never;
    expect(listProviders({ section }).map(({ title }) => title)).toEqual(['GitHub', 'Work']);
  });
});

describe('local_sign_in', () => {
  it.each([
    ['always', true, 1],
    ['always', false, 0],
    ['auto', true, 0],
  ] as const)('%s with production %s has %i mistakes', (local, isProduction, count) => {
    const found: unknown[] = [];
    const context = { production: productionIf(isProduction) } as CheckContext;
    localSignInSection.check?.(local, (path) => void found.push(path), context);
    expect(found).toHaveLength(count);
  });
});
