import type { Credentials2, CustomProtocol1, CustomProtocol2, ProfileGetter } from '@hapi/bell';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { ConfiguredProvider, ProviderSettings } from '../section.ts';
import { fetchProfile, maxAnswer, providerTimeout } from './fetch-profile.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { openId } from './open-id.ts';
import { type BellProfile, fromBell } from './profile.ts';

type Protocol = CustomProtocol1 | CustomProtocol2;

/** bell's provider constructors by name, which are missing in its types. */
export type BellProviders = Readonly<Record<string, (config?: object) => Protocol>>;

/** Other providers known to support a code challenge (RFC 7636). */
const withCodeChallenge = new Set(['auth0', 'azure', 'cognito', 'okta']);

/** Timeout in ms of all calls to a provider during one callback. */
const profileTimeout = 2 * providerTimeout;

/** @throws Error if bell requires a missing member of `config` */
export function buildProvider({ name, settings }: ConfiguredProvider, known: BellProviders): Protocol {
  if (name === 'github') return github(settings);
  if (name === 'gitlab') return gitlab(settings);
  const own = openId(name, settings);
  if (own !== undefined) return own;
  const make = known[name];
  if (make === undefined) throw new Error(`bell has no provider "${name}"`);
  return adopt(name, make(configFor(name, settings)), settings);
}

/** Current requirements of vendors that bell does not know; `config` in gateway.yaml wins. */
function configFor(name: string, { client_id, config }: ProviderSettings): object | undefined {
  switch (name) {
    case 'facebook':
      // Version 3 of the Graph API removed other fields that bell requests.
      return { fields: 'id,name,email', ...config };
    case 'trakt':
      return { apiKey: client_id, ...config };
    case 'twitter':
      // Id and name come with the token. Most apps have no access to the endpoint for further data.
      return { extendedProfile: false, ...config };
    case 'vk':
      // Versions below 5.81 are rejected.
      return { version: '5.199', ...config };
    default:
      return config;
  }
}

/** Adapts a bell provider to use our deadlines and profile parser. */
function adopt(name: string, original: Protocol, settings: ProviderSettings): Protocol {
  const { client_id, client_secret, endpoints = {}, trust_email: isTrusted } = settings;
  const base = { ...original, ...(name === 'twitch' && { headers: { 'Client-Id': client_id } }) } as Protocol;
  const profile: ProfileGetter<Credentials2> = async function profile(credentials, params, get, request) {
    const ask = base.protocol === 'oauth2' && !isPosted(base) ? getter(name, credentials.token, base.headers) : get;
    // Some profile calls are signed with the secret, but bell's setting holds the limits of the token request instead.
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
    // According to its documentation, Trakt accepts the secret in the body only.
    ...(name === 'trakt' && { useParamsAuth: true }),
    profile,
  };
  return { ...base, ...changes } as Protocol;
}

/** Replaces bell's helper, which has no deadline. */
function getter(name: string, token: string, headers: Readonly<Record<string, string>> = {}) {
  return async (uri: string, params: Readonly<Record<string, string>> = {}): Promise<object> => {
    // bell puts the token into Stripe's URL, which fetch rejects, and calls a host without the accounts API.
    const url = new URL(name === 'stripe' ? 'https://api.stripe.com/v1/account' : uri);
    for (const [key, value] of Object.entries(params)) url.searchParams.set(key, value);
    return (await fetchProfile(url.href, token, headers)) as object;
  };
}

function isPosted(base: Protocol): boolean {
  return (base as { readonly profileMethod?: string }).profileMethod === 'post';
}

/**
 * Returns the settings with which bell sends the client secret. bell merges an object into the options of the token request, which is the
 * only way to set its deadline and size limit.
 */
export function clientSecretOf(provider: Protocol, { client_id, client_secret }: ProviderSettings) {
  if (provider.protocol === 'oauth') return { clientSecret: client_secret };
  const limits = { timeout: providerTimeout, maxBytes: maxAnswer };
  if (provider.useParamsAuth === true) return { clientSecret: limits, tokenParams: { client_secret } };
  return { clientSecret: { ...limits, headers: { Authorization: basicAuthorization(client_id, client_secret) } } };
}

/**
 * Writes the Authorization header of client_secret_basic (RFC 6749, section 2.3.1), which requires encoding: a + or % in a secret would be
 * decoded to another character.
 */
export function basicAuthorization(clientId: string, clientSecret: string): string {
  const credentials = [clientId, clientSecret].map(formEncoded).join(':');
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length);
}
