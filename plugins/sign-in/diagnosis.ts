import type { Diagnosis, DiagnosisHost } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { parseObject } from '#core/platform/json.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { createBasicAuthorization, type BellProviders, buildProvider } from './providers/build.ts';
import { maxResponseBytes } from './providers/fetch-profile.ts';
import { buildProviderPath } from './providers/routes.ts';
import { type ConfiguredProvider, listProviders } from './section.ts';

/** Errors of RFC 6749 §5.2, GitHub and Slack, grouped by what is wrong in the app's settings. */
const clientErrors = new Set([
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
  'invalid_client_id',
  'bad_client_secret',
]);
const callbackErrors = new Set(['redirect_uri_mismatch', 'invalid_redirect_uri', 'bad_redirect_uri']);
const codeErrors = new Set(['invalid_grant', 'bad_verification_code', 'invalid_request', 'invalid_code']);

/** Exchanges a made-up code for a token: providers check client id, secret and callback URL before the code. */
export const signInDiagnosis: Diagnosis = {
  name: 'sign_in',
  *checks(host) {
    const providers = listProviders(host);
    if (providers.length === 0) yield { run: async () => skipped('no provider is configured') };
    for (const provider of providers)
      yield { subject: provider.name, run: (signal) => checkProvider(provider, host, signal) };
  },
};

async function checkProvider(
  configured: ConfiguredProvider,
  { service: { baseUrl } }: DiagnosisHost,
  signal: AbortSignal,
): Promise<Finding> {
  const callback = baseUrl + buildProviderPath(configured.name);
  const { protocol, hostname } = new URL(callback);
  if (protocol === 'http:' && !isLoopback(hostname)) {
    const advice = 'Set service.base_url to the public https:// URL, and enter that callback address at the provider.';
    return failed(`the callback address ${callback} is not HTTPS, which providers require`, advice);
  }
  const { providers } = (await import('@hapi/bell')) as unknown as { readonly providers: BellProviders };
  const provider = buildProvider(configured, providers);
  const { protocol: kind, token } = provider;
  if (kind === 'oauth' || typeof token !== 'string') return skipped(`callback address ${callback}`);
  const usesBasicAuth = provider.useParamsAuth !== true;
  const error = await exchangeTestCode(token, configured.settings, callback, usesBasicAuth, signal);
  return typeof error === 'string' ? describeError(error, callback) : error;
}

/** Returns a finding if the provider reports no error for a made-up code. */
async function exchangeTestCode(
  url: string,
  { client_id, client_secret }: ConfiguredProvider['settings'],
  callback: string,
  usesBasicAuth: boolean,
  signal: AbortSignal,
): Promise<string | Finding> {
  const form = { grant_type: 'authorization_code', code: 'daypass-doctor', redirect_uri: callback };
  const basic = createBasicAuthorization(client_id, client_secret);
  try {
    const response = await outgoingFetch(url, {
      method: 'POST',
      headers: { accept: 'application/json', ...(usesBasicAuth && { authorization: basic }) },
      body: new URLSearchParams({ ...form, client_id, ...(!usesBasicAuth && { client_secret }) }),
      redirect: 'error',
      signal,
    });
    const text = (await response.text()).slice(0, maxResponseBytes);
    // Some providers respond with a query string even if asked for JSON.
    const error = parseObject(text)?.['error'] ?? new URLSearchParams(text).get('error');
    if (typeof error === 'string') return error.slice(0, 60);
    return warning(
      `${new URL(url).host} answers ${response.status} to a made-up code`,
      `Try to sign in. The callback address is ${callback}.`,
    );
  } catch (error) {
    return explainNetworkError(error);
  }
}

function describeError(error: string, callback: string): Finding {
  if (clientErrors.has(error)) {
    const advice = 'Compare client_id and client_secret with the app at the provider; create a new secret if in doubt.';
    return failed(`the provider does not know this app (${error})`, advice);
  }
  if (callbackErrors.has(error)) {
    const advice = `Enter exactly ${callback} as callback address (redirect URI) of the app at the provider.`;
    return failed('the callback address is not registered for the app', advice);
  }
  if (codeErrors.has(error)) return ok(`accepts the app; its callback address must be ${callback}`);
  const advice = `Try to sign in. The callback address is ${callback}.`;
  return warning(`the provider answers "${error}"`, advice);
}
