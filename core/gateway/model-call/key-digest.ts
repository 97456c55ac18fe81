import { hash } from 'node:crypto';
import type { Upstream } from '#core/config/catalog/catalog.ts';

const hostByUpstream = new WeakMap<object, string>(); // a moved session computes the digests of its route in each call

/**
 * Returns the digest of a key and its host, which identifies the key in tables and between instances. It is the same for all upstreams that
 * share the key. Without a key, as with cloud credentials, it identifies the upstream.
 */
export function digestKey(upstream: Pick<Upstream, 'baseUrl' | 'name'>, key: string): string {
  const host = hostByUpstream.get(upstream) ?? new URL(upstream.baseUrl).host;
  hostByUpstream.set(upstream, host);
  return hash('sha256', `${host} ${key === '' ? `of ${upstream.name}` : key}`, 'hex').slice(0, 32);
}
