import { readFile } from 'node:fs/promises';
import type * as googleAuth from 'google-auth-library';
import type { CloudCredentials } from '#core/config/catalog/credentials.ts';
import { parseObject } from '#core/platform/json.ts';
import { decodesBrotliSafely } from '#core/platform/node-release.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import type { ReadToken, Token } from './token-source.ts';

type Aws = NonNullable<CloudCredentials['aws']>;
type Google = NonNullable<CloudCredentials['google']>;
type Entra = NonNullable<CloudCredentials['entra']>;

/** The cloud's library is loaded for the first token. */
export function createTokenReader({ aws, google, entra }: CloudCredentials): ReadToken {
  if (aws !== undefined) return () => signBedrockKey(aws);
  if (entra !== undefined) return () => requestEntraToken(entra);
  return () => requestGoogleToken(google ?? {});
}

const bedrockLifetimeSeconds = 43_200; // AWS's maximum

/**
 * Creates a short-term API key for Amazon Bedrock: a URL signed with Signature Version 4. Sends no request. Source: AWS, "Generate
 * short-term Amazon Bedrock API keys".
 *
 * @param datetime time of the signature, such as `20260102T030405Z`; set by tests
 */
export async function signBedrockKey(
  { region, access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken }: Aws,
  datetime?: string,
): Promise<Token> {
  const { AwsV4Signer } = await import('aws4fetch');
  const signer = new AwsV4Signer({
    method: 'POST',
    url: `https://bedrock.amazonaws.com/?Action=CallWithBearerToken&X-Amz-Expires=${bedrockLifetimeSeconds}`,
    service: 'bedrock',
    region,
    accessKeyId,
    secretAccessKey,
    signQuery: true,
    ...(sessionToken !== undefined && sessionToken !== '' && { sessionToken }),
    ...(datetime !== undefined && { datetime }),
  });
  const { url } = await signer.sign();
  const signedUrl = `${url.href.slice('https://'.length)}&Version=1`;
  return {
    value: `bedrock-api-key-${Buffer.from(signedUrl).toString('base64')}`,
    lifetimeSeconds: bedrockLifetimeSeconds,
  };
}

const entraScope = 'https://cognitiveservices.azure.com/.default'; // models of Microsoft and other vendors in Foundry
const entraTimeoutMs = 8_000;

/**
 * Requests a token with a client secret or the token of a federated workload. Source: Microsoft identity platform, "Client credentials".
 */
async function requestEntraToken(entra: Entra): Promise<Token> {
  const { tenant_id: tenant, client_id, client_secret, token_file: file, authority, scope = entraScope } = entra;
  const credential =
    file === undefined
      ? { client_secret: client_secret ?? '' }
      : {
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: (await readFile(file, 'utf8')).trim(),
        };
  const authorityUrl = authority ?? 'https://login.microsoftonline.com';
  const response = await outgoingFetch(`${authorityUrl}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id, scope, ...credential }),
    signal: AbortSignal.timeout(entraTimeoutMs),
    redirect: 'error',
  });
  const { access_token: value, expires_in: lifetime, error } = parseObject(await response.text()) ?? {};
  if (typeof value === 'string' && typeof lifetime === 'number') return { value, lifetimeSeconds: lifetime };
  const code = typeof error === 'string' ? ` (${error.slice(0, 100)})` : '';
  throw new Error(`Entra responded with ${response.status}${code}`);
}

type GoogleLibrary = typeof googleAuth;

class GoogleAuthLibrary {
  #loading: Promise<GoogleLibrary> | undefined;

  load(): Promise<GoogleLibrary> {
    return (this.#loading ??= this.#load());
  }

  async #load(): Promise<GoogleLibrary> {
    const library = await import('google-auth-library');
    disableBrotli(library.gaxios.Gaxios);
    return library;
  }
}

const googleLibrary = new GoogleAuthLibrary();

/**
 * Patches the prototype, because some of the library's clients accept no options. `compress` is an option of node-fetch, its HTTP client.
 */
function disableBrotli({ prototype }: GoogleLibrary['gaxios']['Gaxios']): void {
  const { request } = prototype;
  prototype.request = function requestPlain(this: typeof prototype, options = {}) {
    return request.call(this, decodesBrotliSafely() ? options : ({ ...options, compress: false } as typeof options));
  } as typeof request;
}

const googleScope = 'https://www.googleapis.com/auth/cloud-platform';
const defaultGoogleLifetimeSeconds = 1_800; // if the library reports no expiry

/**
 * Requests a token with the credentials that Google's library finds: a service account key, workload identity federation or the metadata
 * server. Creates a new client each time, because an existing one returns a cached token.
 */
async function requestGoogleToken({ key_file: keyFile }: Google): Promise<Token> {
  const { GoogleAuth } = await googleLibrary.load();
  const auth = new GoogleAuth({ scopes: [googleScope], ...(keyFile !== undefined && { keyFile }) });
  const client = await auth.getClient();
  const { token } = await client.getAccessToken();
  if (typeof token !== 'string') throw new Error('Google returned no token');
  const expiresAt = client.credentials.expiry_date;
  const remainingSeconds =
    typeof expiresAt === 'number' ? (expiresAt - Date.now()) / 1_000 : defaultGoogleLifetimeSeconds;
  return { value: token, lifetimeSeconds: Math.max(1, remainingSeconds) };
}
