import { parseJson } from '#core/platform/json.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
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
  const text = await readText(response);
  if (response.status !== 200) throw new Error(`${origin}${pathname} answered ${response.status}`);
  const profile = parseJson(text);
  if (profile === undefined) throw new Error(`${origin}${pathname} did not answer with JSON`);
  return profile;
}

async function readText({ body }: Response): Promise<string> {
  const collected = new CollectedBytes();
  for await (const piece of body ?? []) {
    collected.add(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    if (collected.size > maxAnswer) throw new Error(`the answer has more than ${maxAnswer} bytes`);
  }
  return collected.take().toString();
}
