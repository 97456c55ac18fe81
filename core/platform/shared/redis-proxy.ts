import { connectionReason } from '../errors/connection-error.ts';
import { createRedis, quietHandshake } from './redis-client.ts';
import { redisAddress } from './redis-url.ts';

const timeout = 3_000; // ms

/**
 * Recognises proxies that pass on only commands with keys and close the connection at all others, which looks like a connection that is
 * lost again and again.
 *
 * @param url in any form of REDIS_URL
 * @returns undefined for anything else
 */
export async function findCommandProxy(url: string): Promise<string | undefined> {
  if (redisAddress(url).url === undefined) return undefined;
  const client = createRedis(url, {
    ...quietHandshake,
    // Neither HELLO nor SELECT: they would close the connection before the PING.
    protocol: 2,
    db: 0,
    lazyConnect: true,
    connectTimeout: timeout,
    commandTimeout: timeout,
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
