import type { AuthScheme } from '#core/config/catalog/catalog.ts';

/** The header that carries a key to an upstream. An empty key is not sent. */
export function authHeaders(scheme: AuthScheme, key: string): Record<string, string> {
  if (key === '' || scheme === 'none') return {};
  return scheme === 'bearer' ? { authorization: `Bearer ${key}` } : { [scheme]: key };
}
