import { parseJson } from '#core/platform/json.ts';
import { answerText } from '#core/platform/answer-text.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';

/** Ms within which a provider must answer. */
export const providerTimeout = 10_000;
/** Bytes of an answer: a profile has a few hundred. */
export const maxAnswer = 262_144;

/**
 * Asks a provider for JSON. Redirects are not followed: they would take the access token elsewhere.
 *
 * @throws Error without what the provider wrote, when it does not answer in time, with 200, or with JSON
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
    signal: AbortSignal.timeout(providerTimeout),
  });
  const text = await answerText(response.body, maxAnswer);
  if (response.status !== 200) throw new Error(`${origin}${pathname} answered ${response.status}`);
  const profile = parseJson(text);
  if (profile === undefined) throw new Error(`${origin}${pathname} did not answer with JSON`);
  return profile;
}
