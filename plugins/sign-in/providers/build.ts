import type { Credentials2, CustomProtocol1, CustomProtocol2, ProfileGetter } from '@hapi/bell';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { ConfiguredProvider, ProviderSettings } from '../section.ts';
import { fetchProfile, maxAnswer, providerTimeout } from './fetch-profile.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { openId } from './open-id.ts';
import { type BellProfile, fromBell } from './profile.ts';

type Protocol = CustomProtocol1 | CustomProtocol2;

/** bell's constructors of providers, by name; bell's types do not have them. */
export type BellProviders = Readonly<Record<string, (config?: object) => Protocol>>;

/** Further providers that are known to support a code challenge (RFC 7636). */
const withCodeChallenge = new Set(['auth0', 'azure', 'cognito', 'okta']);

/** Timeout in ms of all calls to a provider during one callback. */
const profileTimeout = 2 * providerTimeout;

/** @throws Error when bell lacks something in `config` */
export function buildProvider({ name, settings }: ConfiguredProvider, known: BellProviders): Protocol {
  if (name === 'github') return github(settings);
  if (name === 'gitlab') return gitlab(settings);
  const own = openId(name, settings);
  if (own !== undefined) return own;
  const make = known[name];
  if (make === undefined) throw new Error(`bell has no provider "${name}"`);
  return adopt(name, make(configFor(name, settings)), settings);
}

/** Current requirements of vendors, where bell has outdated ones; `config` in gateway.yaml wins. */
function configFor(name: string, { client_id, config }: ProviderSettings): object | undefined {
  switch (name) {
    case 'facebook':
      // Version 3 of the Graph API took away other fields that bell asks for.
      return { fields: 'id,name,email', ...config };
    case 'trakt':
      return { apiKey: client_id, ...config };
    case 'twitter':
      // Id and name come with the token. The endpoint for more is closed to most apps.
      return { extendedProfile: false, ...config };
    case 'vk':
      // Versions below 5.81 are refused.
      return { version: '5.199', ...config };
    default:
      return config;
  }
}

/** Takes a provider of bell, with our deadlines and our reading of its profile. */
function adopt(name: string, original: Protocol, settings: ProviderSettings): Protocol {
  const { client_id, client_secret, endpoints = {}, trust_email: isTrusted } = settings;
  const base = { ...original, ...(name === 'twitch' && { headers: { 'Client-Id': client_id } }) } as Protocol;
  const profile: ProfileGetter<Credentials2> = async function profile(credentials, params, get, request) {
    const ask = base.protocol === 'oauth2' && !isPosted(base) ? getter(name, credentials.token, base.headers) : get;
    // Some sign with the secret, in whose place bell has limits of the request for the token.
    const told = { ...this, clientSecret: client_secret };
    const work = base.profile.call(told as never, credentials as never, params, ask, request);
    await withDeadline(work, profileTimeout, `no answer within ${profileTimeout} ms`);
    credentials.profile = fromBell(name, credentials.profile as BellProfile, isTrusted);
  };
  const changes = {
    name,
    auth: endpoints.authorize ?? base.auth,
    token: endpoints.token ?? base.token,
    ...(withCodeChallenge.has(name) && { pkce: 'S256' }),
    // Trakt documents the secret in the body only.
    ...(name === 'trakt' && { useParamsAuth: true }),
    profile,
  };
  return { ...base, ...changes } as Protocol;
}

/** bell's own helper has no deadline. */
function getter(name: string, token: string, headers: Readonly<Record<string, string>> = {}) {
  return async (uri: string, params: Readonly<Record<string, string>> = {}): Promise<object> => {
    // bell writes the token into Stripe's URL, which fetch refuses, and asks a host that has no accounts.
    const url = new URL(name === 'stripe' ? 'https://api.stripe.com/v1/account' : uri);
    for (const [key, value] of Object.entries(params)) url.searchParams.set(key, value);
    return (await fetchProfile(url.href, token, headers)) as object;
  };
}

function isPosted(base: Protocol): boolean {
  return (base as { readonly profileMethod?: string }).profileMethod === 'post';
}

/**
 * How bell sends the client secret. As an object it is merged into the options of the request for the token, the only way
 * to give that a deadline and a bound.
 */
export function clientSecretOf(provider: Protocol, { client_id, client_secret }: ProviderSettings) {
  if (provider.protocol === 'oauth') return { clientSecret: client_secret };
  const limits = { timeout: providerTimeout, maxBytes: maxAnswer };
  if (provider.useParamsAuth === true) return { clientSecret: limits, tokenParams: { client_secret } };
  return { clientSecret: { ...limits, headers: { Authorization: basicAuthorization(client_id, client_secret) } } };
}

/** As client_secret_basic asks (RFC 6749, section 2.3.1): a + or % in a secret would be read as another character. */
export function basicAuthorization(clientId: string, clientSecret: string): string {
  const credentials = [clientId, clientSecret].map(formEncoded).join(':');
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length);
}
