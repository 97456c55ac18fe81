import { hash } from 'node:crypto';
import type { Upstream } from '#core/config/catalog/catalog.ts';

/**
 * Returns the digest of a key and its host, which identifies the key in tables and between instances: the same for all upstreams that share
 * it. Without a key, as with cloud credentials, it identifies the upstream.
 */
export function keyDigest({ baseUrl, name }: Pick<Upstream, 'baseUrl' | 'name'>, key: string): string {
  return hash('sha256', `${new URL(baseUrl).host} ${key === '' ? `of ${name}` : key}`, 'hex').slice(0, 32);
}
