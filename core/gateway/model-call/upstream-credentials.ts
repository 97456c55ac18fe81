import type { AuthScheme, Upstream } from '#core/config/catalog/catalog.ts';

const minSecretLength = 6; // shorter values would match inside other words
const secretHeaders = /auth|key|token|secret|cookie/i;

export function createAuthHeaders(scheme: AuthScheme, key: string): Record<string, string> {
  if (key === '' || scheme === 'none') return {};
  return scheme === 'bearer' ? { authorization: `Bearer ${key}` } : { [scheme]: key };
}

/** Returns the keys and hosts of an upstream, longest first. No message may contain them. */
export function listSecrets({
  apiKeys,
  baseUrl,
  headers,
}: Pick<Upstream, 'apiKeys' | 'baseUrl' | 'headers'>): readonly string[] {
  const { host, hostname } = new URL(baseUrl);
  const credentials = Object.entries(headers).filter(([name]) => secretHeaders.test(name));
  const values = [...apiKeys, ...credentials.map(([, value]) => value)].filter(
    ({ length }) => length >= minSecretLength,
  );
  // A host name without a dot may be an ordinary word.
  const hosts = hostname.includes('.') ? [host, hostname] : [host].filter((name) => name !== hostname);
  return [...values, ...hosts].toSorted((a, b) => b.length - a.length);
}
