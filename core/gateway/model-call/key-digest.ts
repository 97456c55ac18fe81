import { hash } from 'node:crypto';
import type { Upstream } from '#core/config/catalog/catalog.ts';

/**
 * Digest of a key and its host, by which tables and instances name the key: the same for all upstreams that have it. Without a key, as
 * with the credentials of a cloud, that of the upstream.
 */
export function keyDigest({ baseUrl, name }: Pick<Upstream, 'baseUrl' | 'name'>, key: string): string {
  return hash('sha256', `${new URL(baseUrl).host} ${key === '' ? `of ${name}` : key}`, 'hex').slice(0, 32);
}
