import { connectionReason } from '../errors/connection-error.ts';
import { createRedis, quietHandshake } from './redis-client.ts';
import { parseRedisUrl } from './redis-url.ts';

const timeoutMs = 3_000;

/**
 * Recognizes proxies that only forward commands with keys, and close the connection on all others, which looks like a connection that is
 * lost repeatedly.
 *
 * @returns the reason why the proxy cannot be used; undefined if the server is not such a proxy
 */
export async function findCommandProxy(url: string): Promise<string | undefined> {
  if (parseRedisUrl(url).url === undefined) return undefined;
  const client = createRedis(url, {
    ...quietHandshake,
    // Sends neither HELLO nor SELECT, which would close the connection before the PING.
    protocol: 2,
    db: 0,
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
    const isClosed = await client.subscribe('gw:event:any').then(
      () => false,
      ({ message }: Error) => /closed/i.test(message),
    );
    return isClosed ? connectionReason('connection.reason.proxy') : undefined;
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}
