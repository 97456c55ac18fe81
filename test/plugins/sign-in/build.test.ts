import { createRequire } from 'node:module';
import { type Server, server as createHapi } from '@hapi/hapi';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type BellProviders, buildProvider, clientSecretOf } from '../../../plugins/sign-in/providers/build.ts';
import { fromBell, toPerson } from '../../../plugins/sign-in/providers/profile.ts';
import { providerTitles } from '#core/business/accounts/shown-names.ts';

const bell = createRequire(import.meta.url)('@hapi/bell') as { plugin: never; providers: BellProviders };

/** What bell requires of some providers. */
const configs: Record<string, Record<string, string>> = {
  auth0: { domain: 'acme.auth0.com' },
  cognito: { uri: 'https://acme.auth.eu-west-1.amazoncognito.com' },
  okta: { uri: 'https://acme.okta.com' },
  phabricator: { uri: 'https://phabricator.example' },
  trakt: { apiKey: 'key' },
};

function build(name: string) {
  const config = configs[name];
  const settings = { client_id: 'id', client_secret: 'secret', trust_email: false, ...(config && { config }) };
  const provider = buildProvider({ name, title: name, settings }, bell.providers);
  return { provider, settings };
}

async function serverWithBell(): Promise<Server> {
  const server = createHapi();
  await server.register(bell.plugin);
  return server;
}

describe('a provider of bell', () => {
  it.each(Object.keys(providerTitles))('%s makes a strategy', async (name) => {
    const { provider, settings } = build(name);
    const server = await serverWithBell();
    const options = { provider, password: 'x'.repeat(43), clientId: 'id', ...clientSecretOf(provider, settings) };
    expect(() => server.auth.strategy(name, 'bell', options as never)).not.toThrow();
  });

  it('without what it needs is refused', () => {
    const settings = { client_id: 'id', client_secret: 'secret', trust_email: false };
    expect(() => buildProvider({ name: 'okta', title: 'Okta', settings }, bell.providers)).toThrow('required');
  });
});

describe('a profile of bell', () => {
  it('is waited for until twenty seconds have passed, with all its calls', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { provider } = build('gitlab');
    vi.stubGlobal('fetch', () => new Promise(() => undefined));
    onTestFinished(() => void vi.unstubAllGlobals());
    const ended = vi.fn<(error: Error) => void>();
    const asking = provider.profile.call(provider as never, { token: 't' } as never, {}, vi.fn<never>(), {} as never);
    void Promise.resolve(asking).catch(ended);
    await vi.advanceTimersByTimeAsync(19_999);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ message: 'no answer within 20000 ms' }));
  });

  it.each([
    ['verified by OpenID Connect', 'okta', { email_verified: true }, false, 'a@example.com'],
    ['verified in the words of Discord', 'discord', { verified: true }, false, 'a@example.com'],
    ['called verified by someone else', 'twitter', { verified: true }, false, undefined],
    ['of unknown verification', 'gitlab', {}, false, undefined],
    ['of a provider that the operator trusts', 'gitlab', {}, true, 'a@example.com'],
  ])('has an address that is %s', (_what, provider, raw, isTrusted, email) => {
    const profile = fromBell(provider, { id: 7, email: 'a@example.com', displayName: 'A', raw }, isTrusted);
    expect(toPerson(provider, profile)).toMatchObject({ provider, subject: '7', email, name: 'A' });
  });

  it.each([undefined, null, '', {}, 1.5, 'x'.repeat(256)])('without an id is refused: %j', (id) => {
    expect(() => toPerson('gitlab', fromBell('gitlab', { id, raw: {} }, false))).toThrow('did not return an id');
  });
});
