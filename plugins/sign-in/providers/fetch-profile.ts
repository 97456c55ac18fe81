import { parseJson } from '#core/platform/json.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { readResponseText } from '#core/platform/response-text.ts';

export const providerTimeoutMs = 10_000;
export const maxResponseBytes = 262_144; // generous: profiles have a few hundred bytes

/**
 * Does not follow redirects, which would send the access token to another host.
 *
 * @throws Error without the provider's text, on a timeout, a status other than 200, or a body that is not JSON
 */
export async function fetchProfile(
  uri: string,
  token: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const { origin, pathname } = new URL(uri);
  const response = await outgoingFetch(uri, {
    headers: { accept: 'application/json', ...headers, authorization: `Bearer ${token}` },
    redirect: 'error',
    signal: AbortSignal.timeout(providerTimeoutMs),
  });
  // Read on errors too: an unread body would keep its connection open.
  const text = await readResponseText(response.body, maxResponseBytes);
  if (response.status !== 200) throw new Error(`${origin}${pathname} answered ${response.status}`);
  const profile = parseJson(text);
  if (profile === undefined) throw new Error(`${origin}${pathname} did not answer with JSON`);
  return profile;
}
