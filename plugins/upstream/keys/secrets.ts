import type { Upstream } from '#core/catalog/catalog.ts';

/** Shorter ones would be found inside of other words. */
const shortest = 6;
const secretHeaders = /auth|key|token|secret|cookie/i;

/** What gateway.yaml says of an upstream and nobody else may read: its keys and its host. The longest come first. */
export function secretsOf({ apiKeys, baseUrl, headers }: Upstream): readonly string[] {
  const { host, hostname } = new URL(baseUrl);
  const credentials = Object.entries(headers).filter(([name]) => secretHeaders.test(name));
  const values = [...apiKeys, ...credentials.map(([, value]) => value)].filter(({ length }) => length >= shortest);
  // A name without a dot may be a word like any other.
  const hosts = hostname.includes('.') ? [host, hostname] : [host].filter((name) => name !== hostname);
  return [...values, ...hosts].toSorted((a, b) => b.length - a.length);
}
