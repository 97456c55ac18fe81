import { createRequire } from 'node:module';
import { type Server, server as createHapi } from '@hapi/hapi';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { providerTitles } from '#core/business/accounts/provider-titles.ts';
import { type BellProviders, buildProvider, createSecretSettings } from '../../../plugins/sign-in/providers/build.ts';
import { readBellProfile, toSignInProfile } from '../../../plugins/sign-in/providers/profile.ts';

const bell = createRequire(import.meta.url)('@hapi/bell') as { plugin: never; providers: BellProviders };

/** What bell requires of some providers. */
const configs: Record<string, Record<string, string>> = {
  auth0: { domain: 'acme.auth0.com' },
  cognito: { uri: 'https://acme.auth.eu-west-1.amazoncognito.com' },
  okta: { uri: 'https://acme.okta.com' },
  phabricator: { uri: 'https://phabricator.example' },
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
    const options = { provider, password: 'x'.repeat(43), clientId: 'id', ...createSecretSettings(provider, settings) };
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
    const { provider } = build('spotify');
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
    ['of unknown verification', 'bitbucket', {}, false, undefined],
    ['of a provider that the operator trusts', 'bitbucket', {}, true, 'a@example.com'],
  ])('has an address that is %s', (_what, provider, raw, isTrusted, email) => {
    const profile = readBellProfile(provider, { id: 7, email: 'a@example.com', displayName: 'A', raw }, isTrusted);
    expect(toSignInProfile(provider, profile)).toMatchObject({ provider, subject: '7', email, name: 'A' });
  });

  it.each([undefined, null, '', {}, 1.5, 'x'.repeat(256)])('without an id is refused: %j', (id) => {
    expect(() => toSignInProfile('bitbucket', readBellProfile('bitbucket', { id, raw: {} }, false))).toThrow(
      'did not return an id',
    );
  });
});

/** Answers of the vendors to the request for a profile, as their references have them, and what bell makes of them. */
const vendors: readonly [provider: string, profile: Record<string, unknown>, subject: string | undefined][] = [
  [
    'dropbox',
    { account_id: 'dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc', name: { display_name: 'A' } },
    'dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc',
  ],
  [
    'trakt',
    { username: 'a', ids: { slug: 'a', uuid: 'b6589fc6ab0dc82cf12099d1c2d40ab994e8410c' } },
    'b6589fc6ab0dc82cf12099d1c2d40ab994e8410c',
  ],
  ['trakt', { username: 'a', ids: { slug: 'a' } }, undefined],
  [
    'salesforce',
    { user_id: '005x0000001S2b9AAC', organization_id: '00Dx0000001T0zk', name: 'A' },
    '005x0000001S2b9AAC',
  ],
  [
    'arcgisonline',
    { username: 'a', raw: { username: 'a', id: '80561e58c603d6e2f6b1ccf99ac3050c' } },
    '80561e58c603d6e2f6b1ccf99ac3050c',
  ],
  ['tumblr', { username: 'a', raw: { name: 'a' } }, undefined],
];

describe('the id of a person', () => {
  it.each(vendors)('is read where %s has it: %j', (provider, profile, subject) => {
    const read = () => toSignInProfile(provider, readBellProfile(provider, profile, false)).subject;
    if (subject === undefined) expect(read).toThrow('did not return an id');
    else expect(read()).toBe(subject);
  });
});

/** Signs in with a GitLab that answers so to the request for a profile. */
async function signInWithGitLab(answer: object, settings: { config?: { uri: string }; trust_email?: boolean } = {}) {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: string | URL) => {
    asked.push(String(url));
    return Response.json(answer);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const all = { client_id: 'id', client_secret: 'secret', trust_email: false, ...settings };
  const provider = buildProvider({ name: 'gitlab', title: 'GitLab', settings: all }, bell.providers);
  const credentials = { token: 't' } as { profile?: never };
  await provider.profile.call(provider as never, credentials as never, {}, vi.fn<never>(), {} as never);
  return { asked, person: toSignInProfile('gitlab', credentials.profile as never), provider };
}

describe('GitLab', () => {
  const user = {
    id: 1,
    username: 'rani',
    name: 'Rani',
    email: 'rani@example.com',
    avatar_url: 'https://git.example/a.png',
  };

  it('is asked by version 4 of its API, on gitlab.com or where the operator has one', async () => {
    expect((await signInWithGitLab(user)).asked).toEqual(['https://gitlab.com/api/v4/user']);
    const own = await signInWithGitLab(user, { config: { uri: 'https://git.example/' } });
    expect(own.asked).toEqual(['https://git.example/api/v4/user']);
    expect(own.provider).toMatchObject({
      auth: 'https://git.example/oauth/authorize',
      scope: ['read_user'],
      pkce: 'S256',
    });
  });

  it.each([
    ['a confirmed one', { confirmed_at: '2026-01-02T03:04:05.000Z' }, false, 'rani@example.com'],
    ['none that is not confirmed', { confirmed_at: null }, false, undefined],
    ['one that the operator trusts', { confirmed_at: null }, true, 'rani@example.com'],
  ])('gives a person with an address: %s', async (_title, more, trust_email, email) => {
    const { person } = await signInWithGitLab({ ...user, ...more }, { trust_email });
    expect(person).toEqual({
      provider: 'gitlab',
      subject: '1',
      name: 'Rani',
      email,
      avatarUrl: 'https://git.example/a.png',
    });
  });
});

it('a client secret with a + or a % is form-encoded in basic authentication', () => {
  const { provider } = build('bitbucket');
  const { clientSecret } = createSecretSettings(provider, {
    client_id: 'a b',
    client_secret: 'x+y%z',
    trust_email: false,
  });
  expect(clientSecret).toMatchObject({ headers: { Authorization: `Basic ${btoa('a+b:x%2By%25z')}` } });
});
