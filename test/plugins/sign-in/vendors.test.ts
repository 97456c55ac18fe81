import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { server as createHapi } from '@hapi/hapi';
import { afterEach, expect, it, vi } from 'vitest';
import { providerTitles } from '#core/business/accounts/provider-titles.ts';
import { unusableProviders } from '../../../plugins/sign-in/provider-config.ts';
import { type BellProviders, buildProvider, createSecretSettings } from '../../../plugins/sign-in/providers/build.ts';
import { type ProviderProfile, toSignInProfile } from '../../../plugins/sign-in/providers/profile.ts';

const load = createRequire(import.meta.url);
const bell = load('@hapi/bell') as { plugin: never; providers: BellProviders };
type Answer = Promise<{ res: { statusCode: number }; payload: Buffer }>;
const wreck = load('@hapi/wreck') as Record<'get' | 'post', (url: string, options: Asked) => Answer>;

interface Asked {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly payload?: string;
}

/** A vendor as its reference describes it, or as libraries in use record it. */
interface Vendor {
  readonly config?: Record<string, string>;
  /** Where the code is exchanged. */
  readonly token: string;
  /** The secret is sent in a header. */
  readonly isBasic?: boolean;
  /** What the vendor answers besides a token. */
  readonly more?: object;
  /** Where the profile is; the vendor knows nothing else. */
  readonly profile: string;
  /** Headers and parameters of the query without which the vendor refuses. */
  readonly wants?: Readonly<Record<string, string>>;
  readonly answer: unknown;
  readonly person: { readonly subject: string; readonly name?: string; readonly email?: string };
}

const rani = { name: 'Rani', email: 'rani@example.com' };
const claims = { sub: '42', ...rani, email_verified: true };
const proof = createHmac('sha256', 'secret').update('TOKEN').digest('hex');
const microsoft = 'https://login.microsoftonline.com/common/oauth2';

const vendors: Readonly<Record<string, Vendor>> = {
  arcgisonline: {
    token: 'https://www.arcgis.com/sharing/rest/oauth2/token',
    profile: 'https://www.arcgis.com/sharing/rest/community/self',
    wants: { token: 'TOKEN', f: 'json' },
    answer: { username: 'rani', id: '80561e58', fullName: 'Rani', email: 'rani@example.com' },
    person: { subject: '80561e58', name: 'Rani' },
  },
  auth0: {
    config: { domain: 'acme.auth0.com' },
    token: 'https://acme.auth0.com/oauth/token',
    profile: 'https://acme.auth0.com/userinfo',
    answer: { ...claims, sub: 'auth0|42' },
    person: { ...rani, subject: 'auth0|42' },
  },
  azure: {
    token: `${microsoft}/v2.0/token`,
    profile: 'https://graph.microsoft.com/v1.0/me',
    answer: { id: '87d349ed', displayName: 'Rani', userPrincipalName: 'rani@example.com' },
    person: { subject: '87d349ed', name: 'Rani' },
  },
  'azure-legacy': {
    token: `${microsoft}/token`,
    profile: 'https://login.microsoftonline.com/common/openid/userinfo',
    answer: { oid: '87d349ed', name: 'Rani', upn: 'rani@example.com' },
    person: { subject: '87d349ed', name: 'Rani' },
  },
  bitbucket: {
    token: 'https://bitbucket.org/site/oauth2/access_token',
    isBasic: true,
    profile: 'https://api.bitbucket.org/2.0/user',
    answer: { uuid: '{c788b2da}', username: 'rani', display_name: 'Rani' },
    person: { subject: '{c788b2da}', name: 'Rani' },
  },
  cognito: {
    config: { uri: 'https://acme.auth.eu-west-1.amazoncognito.com' },
    token: 'https://acme.auth.eu-west-1.amazoncognito.com/oauth2/token',
    profile: 'https://acme.auth.eu-west-1.amazoncognito.com/oauth2/userInfo',
    answer: { ...claims, email_verified: 'true' },
    person: { ...rani, subject: '42' },
  },
  digitalocean: {
    token: 'https://cloud.digitalocean.com/v1/oauth/token',
    profile: 'https://api.digitalocean.com/v2/account',
    answer: { account: { uuid: 'b6fr89', email: 'rani@example.com', email_verified: true, status: 'active' } },
    person: { subject: 'b6fr89', email: 'rani@example.com' },
  },
  discord: {
    token: 'https://discord.com/api/oauth2/token',
    isBasic: true,
    profile: 'https://discord.com/api/users/@me',
    answer: { id: '80351110224678912', username: 'rani', email: 'rani@example.com', verified: true, avatar: null },
    person: { subject: '80351110224678912', name: 'rani', email: 'rani@example.com' },
  },
  dropbox: {
    token: 'https://api.dropboxapi.com/oauth2/token',
    profile: 'https://api.dropboxapi.com/2/users/get_current_account',
    answer: {
      account_id: 'dbid:AAH4f99T0taONIb',
      name: { given_name: 'Rani', display_name: 'Rani' },
      email: 'rani@example.com',
      email_verified: true,
    },
    person: { ...rani, subject: 'dbid:AAH4f99T0taONIb' },
  },
  facebook: {
    token: 'https://graph.facebook.com/v3.1/oauth/access_token',
    profile: 'https://graph.facebook.com/v3.1/me',
    wants: { appsecret_proof: proof, fields: 'id,name,email' },
    answer: { id: '10159', ...rani },
    person: { subject: '10159', name: 'Rani' },
  },
  fitbit: {
    token: 'https://api.fitbit.com/oauth2/token',
    isBasic: true,
    profile: 'https://api.fitbit.com/1/user/-/profile.json',
    answer: { user: { encodedId: 'GGNJL9', displayName: 'Rani', fullName: 'Rani' } },
    person: { subject: 'GGNJL9', name: 'Rani' },
  },
  foursquare: {
    token: 'https://foursquare.com/oauth2/access_token',
    profile: 'https://api.foursquare.com/v2/users/self',
    wants: { oauth_token: 'TOKEN', v: '20140701' },
    answer: { response: { user: { id: '32', firstName: 'Rani', lastName: 'S', contact: {} } } },
    person: { subject: '32', name: 'Rani S' },
  },
  gitlab: {
    token: 'https://gitlab.com/oauth/token',
    isBasic: true,
    profile: 'https://gitlab.com/api/v4/user',
    answer: { id: 1, username: 'rani', ...rani, confirmed_at: '2026-01-02T03:04:05.000Z' },
    person: { ...rani, subject: '1' },
  },
  google: {
    token: 'https://oauth2.googleapis.com/token',
    profile: 'https://openidconnect.googleapis.com/v1/userinfo',
    answer: claims,
    person: { ...rani, subject: '42' },
  },
  linkedin: {
    token: 'https://www.linkedin.com/oauth/v2/accessToken',
    profile: 'https://api.linkedin.com/v2/userinfo',
    answer: { ...claims, sub: '782bbtaQ', locale: { country: 'ID', language: 'id' } },
    person: { ...rani, subject: '782bbtaQ' },
  },
  medium: {
    token: 'https://medium.com/v1/tokens',
    profile: 'https://api.medium.com/v1/me',
    answer: { data: { id: '5303d74c', username: 'rani', name: 'Rani', url: 'https://medium.com/@rani' } },
    person: { subject: '5303d74c', name: 'Rani' },
  },
  okta: {
    config: { uri: 'https://acme.okta.com' },
    token: 'https://acme.okta.com/oauth2/v1/token',
    profile: 'https://acme.okta.com/oauth2/v1/userinfo',
    answer: claims,
    person: { subject: '42', name: 'rani@example.com', email: 'rani@example.com' },
  },
  phabricator: {
    config: { uri: 'https://phorge.example' },
    token: 'https://phorge.example/oauthserver/token/',
    profile: 'https://phorge.example/api/user.whoami',
    wants: { access_token: 'TOKEN' },
    answer: { result: { phid: 'PHID-USER-1', userName: 'rani', realName: 'Rani', primaryEmail: 'rani@example.com' } },
    person: { subject: 'PHID-USER-1', name: 'Rani' },
  },
  pingfed: {
    config: { uri: 'https://ping.example' },
    token: 'https://ping.example/as/token.oauth2',
    profile: 'https://ping.example/idp/userinfo.openid',
    answer: claims,
    person: { subject: '42', name: 'rani@example.com', email: 'rani@example.com' },
  },
  reddit: {
    token: 'https://www.reddit.com/api/v1/access_token',
    isBasic: true,
    profile: 'https://oauth.reddit.com/api/v1/me',
    wants: { 'user-agent': 'hapi-bell-reddit' },
    answer: { id: '1ia22', name: 'rani', icon_img: 'https://www.redditstatic.com/a.png' },
    person: { subject: '1ia22', name: 'rani' },
  },
  salesforce: {
    token: 'https://login.salesforce.com/services/oauth2/token',
    profile: 'https://login.salesforce.com/services/oauth2/userinfo',
    answer: { ...claims, sub: 'https://login.salesforce.com/id/00Dx/005x', user_id: '005x' },
    person: { ...rani, subject: '005x' },
  },
  slack: {
    token: 'https://slack.com/api/openid.connect.token',
    more: { ok: true },
    profile: 'https://slack.com/api/openid.connect.userInfo',
    answer: { ok: true, ...claims, 'https://slack.com/team_id': 'T0R7GR', 'https://slack.com/user_id': 'U0R7JM' },
    person: { ...rani, subject: 'T0R7GR/U0R7JM' },
  },
  spotify: {
    token: 'https://accounts.spotify.com/api/token',
    profile: 'https://api.spotify.com/v1/me',
    answer: { id: 'rani1', display_name: 'Rani', email: 'rani@example.com' },
    person: { subject: 'rani1', name: 'Rani' },
  },
  stripe: {
    token: 'https://connect.stripe.com/oauth/token',
    more: { stripe_user_id: 'acct_1' },
    profile: 'https://api.stripe.com/v1/account',
    answer: { id: 'acct_1', object: 'account', email: 'rani@example.com' },
    person: { subject: 'acct_1' },
  },
  trakt: {
    token: 'https://api.trakt.tv/oauth/token',
    profile: 'https://api.trakt.tv/users/me',
    wants: { 'trakt-api-key': 'id', 'trakt-api-version': '2' },
    answer: { username: 'rani', name: 'Rani', ids: { slug: 'rani', uuid: 'b6589fc6' } },
    person: { subject: 'b6589fc6', name: 'rani' },
  },
  twitch: {
    token: 'https://id.twitch.tv/oauth2/token',
    profile: 'https://api.twitch.tv/helix/users',
    wants: { 'client-id': 'id' },
    answer: { data: [{ id: '141981764', login: 'rani', display_name: 'Rani', email: 'rani@example.com' }] },
    person: { ...rani, subject: '141981764' },
  },
  vk: {
    token: 'https://oauth.vk.com/access_token',
    more: { user_id: 210700286 },
    profile: 'https://api.vk.com/method/users.get',
    wants: { v: '5.199', access_token: 'TOKEN' },
    answer: { response: [{ id: 210700286, first_name: 'Rani', last_name: 'S' }] },
    person: { subject: '210700286', name: 'Rani S' },
  },
  wordpress: {
    token: 'https://public-api.wordpress.com/oauth2/token',
    profile: 'https://public-api.wordpress.com/rest/v1.1/me',
    wants: { appsecret_proof: proof },
    answer: { ID: 78972699, display_name: 'Rani', username: 'rani', email: 'rani@example.com', email_verified: true },
    person: { ...rani, subject: '78972699' },
  },
  yahoo: {
    token: 'https://api.login.yahoo.com/oauth2/get_token',
    profile: 'https://api.login.yahoo.com/openid/v1/userinfo',
    answer: { ...claims, sub: 'FSVIDUW3D7FSVIDUW3D72F2F' },
    person: { ...rani, subject: 'FSVIDUW3D7FSVIDUW3D72F2F' },
  },
};

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function json(answer: unknown, statusCode = 200): Answer {
  return Promise.resolve({ res: { statusCode }, payload: Buffer.from(JSON.stringify(answer)) });
}

/** Takes the code only with the app's credentials, where this vendor expects them. */
function exchangeCode({ isBasic = false, more }: Vendor, { headers, payload = '' }: Asked): Answer {
  const form = new URLSearchParams(payload);
  const basic = `Basic ${btoa('id:secret')}`;
  const isKnown = isBasic
    ? headers['Authorization'] === basic
    : form.get('client_id') === 'id' && form.get('client_secret') === 'secret';
  if (!isKnown || form.get('code') !== 'CODE') return json({ error: 'invalid_client' }, 401);
  return json({ access_token: 'TOKEN', token_type: 'bearer', ...more });
}

/** @returns undefined for a request that the vendor refuses */
function profileFor({ profile, wants = {}, answer }: Vendor, request: Request): unknown {
  const { origin, pathname, searchParams } = new URL(request.url);
  if (origin + pathname !== profile || request.headers.get('authorization') !== 'Bearer TOKEN') return undefined;
  const lacks = Object.entries(wants).some(
    ([name, value]) => searchParams.get(name) !== value && request.headers.get(name) !== value,
  );
  return lacks ? undefined : answer;
}

/** Puts the vendor in the place of the network. */
function stand(vendor: Vendor): void {
  vi.spyOn(wreck, 'post').mockImplementation((url, asked) => {
    if (url === vendor.token) return exchangeCode(vendor, asked);
    const headers = asked.headers as Record<string, string>;
    const answer = profileFor(vendor, new Request(url, { method: 'POST', headers }));
    return json(answer, answer === undefined ? 403 : 200);
  });
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const answer = profileFor(vendor, new Request(url, init));
    return Response.json(answer ?? {}, { status: answer === undefined ? 403 : 200 });
  });
}

/** The way of a reader from the button to the return with a code. */
async function signIn(name: string, config?: Record<string, string>, back = 'code=CODE') {
  const settings = { client_id: 'id', client_secret: 'secret', trust_email: false, ...(config && { config }) };
  const provider = buildProvider({ name, title: name, settings }, bell.providers);
  const server = createHapi();
  await server.register(bell.plugin);
  const secret = createSecretSettings(provider, settings);
  const options = { provider, password: 'x'.repeat(43), clientId: 'id', cookie: 'c', isSecure: false, ...secret };
  server.auth.strategy('bell', 'bell', options as never);
  const handler = ({ auth }: { readonly auth: { readonly error?: Error; readonly credentials?: object } }) =>
    auth.error === null
      ? toSignInProfile(name, (auth.credentials as { profile: ProviderProfile }).profile)
      : `${auth.error?.message} ${JSON.stringify((auth.error as { data?: unknown }).data)}`;
  const auth = { strategy: 'bell', mode: 'try' } as const;
  server.route({ method: 'GET', path: '/', options: { auth, handler: handler as never } });
  const started = await server.inject('/');
  const state = new URL(started.headers.location as string).searchParams.get('state');
  const cookie = String(started.headers['set-cookie']).split(';')[0] ?? '';
  return (await server.inject({ url: `/?${back}${state === null ? '' : `&state=${state}`}`, headers: { cookie } }))
    .result;
}

it('there is a vendor for each provider that check accepts, besides GitHub, which has tests of its own', () => {
  const accepted = Object.keys(providerTitles).filter((name) => !Object.hasOwn(unusableProviders, name));
  expect([...Object.keys(vendors), 'github', 'twitter'].toSorted()).toEqual(accepted.toSorted());
});

it.each(Object.entries(vendors))('%s says who signs in', async (name, vendor) => {
  stand(vendor);
  const person = await signIn(name, vendor.config);
  expect(person).toEqual({ provider: name, name: '', email: undefined, avatarUrl: undefined, ...vendor.person });
});

it('twitter says who signs in together with the token, without a call that most apps may not make', async () => {
  const asked: string[] = [];
  vi.spyOn(wreck, 'post').mockImplementation(async (url) => {
    asked.push(url);
    const text = url.endsWith('/request_token')
      ? 'oauth_token=TEMPORARY&oauth_token_secret=s&oauth_callback_confirmed=true'
      : 'oauth_token=TOKEN&oauth_token_secret=s&user_id=38895958&screen_name=rani';
    return { res: { statusCode: 200 }, payload: Buffer.from(text) };
  });
  const person = await signIn('twitter', undefined, 'oauth_token=TEMPORARY&oauth_verifier=V');
  expect(person).toMatchObject({ subject: '38895958', name: 'rani', email: undefined });
  expect(asked).toEqual(['https://api.twitter.com/oauth/request_token', 'https://api.twitter.com/oauth/access_token']);
});

it('slack that refuses is not taken for a person', async () => {
  stand({ ...(vendors['slack'] as Vendor), answer: { ok: false, error: 'invalid_auth' } });
  expect(await signIn('slack')).toContain('slack answered "invalid_auth"');
});
