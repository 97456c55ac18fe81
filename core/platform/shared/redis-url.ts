import { readFileSync } from 'node:fs';

/** Where a Redis is, for ioredis and for BullMQ: a URL, or the sentinels that know it. */
export interface RedisAddress {
  url?: string;
  sentinels?: { host: string; port: number }[];
  name?: string;
  username?: string;
  password?: string;
  tls?: Tls;
  sentinelTLS?: Tls;
  enableTLSForSentinelMode?: boolean;
}

interface Tls {
  ca?: Buffer;
}

const forms =
  'Use redis://user:password@host:6379/0, rediss://… for TLS (?ca=FILE for an authority of your own), or redis-sentinel://user:password@host1:26379,host2:26379/NAME';

/** `redis-sentinel://user:password@host:port,host:port/NAME`, with NAME that of the primary. */
const sentinelForm = /^(rediss?)-sentinel:\/\/(?:([^@/]*)@)?([^/?]+)\/([^/?]+)(?:\?(.*))?$/;
const sentinelPort = 26_379;

/**
 * Reads REDIS_URL or REDIS_QUEUE_URL.
 *
 * @param name of the variable
 * @throws Error, without the URL, which may contain a password, when it is in no known form
 */
export function redisAddress(url: string, name = 'REDIS_URL'): RedisAddress {
  const refuse = (what: string) => new Error(`${name} ${what}. ${forms}.`);
  const [, scheme, credentials = '', hosts = '', primary = '', query = ''] = sentinelForm.exec(url) ?? [];
  if (scheme === undefined) return plainAddress(url, refuse);
  const [username, ...rest] = credentials.split(':');
  const password = rest.join(':');
  const sentinels = hosts.split(',').map((host) => URL.parse(`redis://${host}`));
  if (sentinels.some((host) => host === null)) throw refuse('has a sentinel that is not host:port');
  const tls = scheme === 'rediss' ? tlsOf(new URLSearchParams(query), refuse) : undefined;
  return {
    sentinels: sentinels.map((host) => ({
      host: (host as URL).hostname,
      port: Number((host as URL).port) || sentinelPort,
    })),
    name: decodeURIComponent(primary),
    ...(username && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(tls !== undefined && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

function plainAddress(url: string, refuse: (what: string) => Error): RedisAddress {
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'redis:' && parsed.protocol !== 'rediss:')) throw refuse('is not valid');
  const tls = parsed.protocol === 'rediss:' ? tlsOf(parsed.searchParams, refuse) : undefined;
  parsed.searchParams.delete('ca');
  return { url: parsed.href, ...(tls !== undefined && { tls }) };
}

function tlsOf(parameters: URLSearchParams, refuse: (what: string) => Error): Tls {
  const file = parameters.get('ca');
  if (file === null) return {};
  try {
    return { ca: readFileSync(file) };
  } catch (error) {
    throw refuse(`names a file ca=${file} that cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
