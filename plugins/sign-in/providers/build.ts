import type { Credentials2, CustomProtocol1, CustomProtocol2, ProfileGetter } from '@hapi/bell';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { ConfiguredProvider, ProviderSettings } from '../section.ts';
import { fetchProfile, maxResponseBytes, providerTimeoutMs } from './fetch-profile.ts';
import { buildGithub } from './github.ts';
import { buildGitlab } from './gitlab.ts';
import { buildOpenId } from './open-id.ts';
import { type BellProfile, readBellProfile } from './profile.ts';

type Protocol = CustomProtocol1 | CustomProtocol2;

/** bell's types lack its provider constructors. */
export type BellProviders = Readonly<Record<string, (config?: object) => Protocol>>;

/** Providers that support the code challenge (RFC 7636) although bell does not enable it for them. */
const codeChallengeProviders = new Set(['auth0', 'azure', 'cognito', 'okta']);

const profileTimeoutMs = 2 * providerTimeoutMs; // for all calls during one callback

/** @throws Error if a `config` field that bell requires is missing */
export function buildProvider({ name, settings }: ConfiguredProvider, bellProviders: BellProviders): Protocol {
  if (name === 'github') return buildGithub(settings);
  if (name === 'gitlab') return buildGitlab(settings);
  const openIdProvider = buildOpenId(name, settings);
  if (openIdProvider !== undefined) return openIdProvider;
  const createProvider = bellProviders[name];
  if (createProvider === undefined) throw new Error(`bell has no provider "${name}"`);
  return adaptBellProvider(name, createProvider(createConfig(name, settings)), settings);
}

/** Adds what vendors require and bell does not know. `config` in gateway.yaml takes precedence. */
function createConfig(name: string, { client_id, config }: ProviderSettings): object | undefined {
  switch (name) {
    case 'facebook':
      // Version 3 of the Graph API removed other fields that bell asks for.
      return { fields: 'id,name,email', ...config };
    case 'trakt':
      return { apiKey: client_id, ...config };
    case 'twitter':
      // Id and name come with the token. Most apps may not call the endpoint for more.
      return { extendedProfile: false, ...config };
    case 'vk':
      // Versions below 5.81 are rejected.
      return { version: '5.199', ...config };
    default:
      return config;
  }
}

function adaptBellProvider(name: string, original: Protocol, settings: ProviderSettings): Protocol {
  const { client_id, client_secret, endpoints = {}, trust_email: isTrusted } = settings;
  const base = { ...original, ...(name === 'twitch' && { headers: { 'Client-Id': client_id } }) };
  const profile: ProfileGetter<Credentials2> = async function profile(credentials, params, get, request) {
    const getJson =
      base.protocol === 'oauth2' && !usesPost(base) ? createJsonGetter(name, credentials.token, base.headers) : get;
    // Some profile calls are signed with the secret, but bell's setting contains the limits of the token request instead.
    const context = { ...this, clientSecret: client_secret };
    const profileRead = base.profile.call(context, credentials as never, params, getJson, request);
    await withDeadline(profileRead, profileTimeoutMs, `no answer within ${profileTimeoutMs} ms`);
    credentials.profile = readBellProfile(name, credentials.profile as BellProfile, isTrusted);
  };
  const changes = {
    name,
    auth: endpoints.authorize ?? base.auth,
    token: endpoints.token ?? base.token,
    ...(codeChallengeProviders.has(name) && { pkce: 'S256' }),
    // Trakt's documentation accepts the secret in the body only.
    ...(name === 'trakt' && { useParamsAuth: true }),
    profile,
  };
  return { ...base, ...changes } as Protocol;
}

/** bell's helper has no deadline. */
function createJsonGetter(name: string, token: string, headers: Readonly<Record<string, string>> = {}) {
  return async (uri: string, params: Readonly<Record<string, string>> = {}): Promise<object> => {
    // bell puts the token into Stripe's URL, which fetch rejects, and calls a host that has no accounts API.
    const url = new URL(name === 'stripe' ? 'https://api.stripe.com/v1/account' : uri);
    for (const [key, value] of Object.entries(params)) url.searchParams.set(key, value);
    return (await fetchProfile(url.href, token, headers)) as object;
  };
}

function usesPost(base: Protocol): boolean {
  return (base as { readonly profileMethod?: string }).profileMethod === 'post';
}

/** bell merges an object into the options of the token request: the only way to set its deadline and size limit. */
export function createSecretSettings(provider: Protocol, { client_id, client_secret }: ProviderSettings) {
  if (provider.protocol === 'oauth') return { clientSecret: client_secret };
  const limits = { timeout: providerTimeoutMs, maxBytes: maxResponseBytes };
  if (provider.useParamsAuth === true) return { clientSecret: limits, tokenParams: { client_secret } };
  return {
    clientSecret: { ...limits, headers: { Authorization: createBasicAuthorization(client_id, client_secret) } },
  };
}

/** RFC 6749, section 2.3.1, requires encoding: an unencoded + or % in a secret would be decoded to a different character. */
export function createBasicAuthorization(clientId: string, clientSecret: string): string {
  const credentials = [clientId, clientSecret].map(encodeForForm).join(':');
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function encodeForForm(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length);
}
