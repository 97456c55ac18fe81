import { readFileSync } from 'node:fs';
import { StartRefused } from '../errors/start-refused.ts';

/** Address of a Redis for ioredis and BullMQ: its URL, its sentinels, or some nodes of a cluster. */
export interface RedisAddress {
  url?: string;
  sentinels?: RedisServer[];
  cluster?: RedisServer[];
  name?: string;
  username?: string;
  password?: string;
  tls?: Tls;
  sentinelTLS?: Tls;
  enableTLSForSentinelMode?: boolean;
}

export interface RedisServer {
  host: string;
  port: number;
}

interface Tls {
  ca?: Buffer;
}

const formAdvice =
  'Use redis://user:password@host:6379/0, rediss://… for TLS (?ca=FILE for your own certificate authority), redis-sentinel://user:password@host1:26379,host2:26379/NAME, or redis-cluster://user:password@host1:6379,host2:6379';

/** `redis-sentinel://user:password@host:port,host:port/NAME`, where NAME is the primary's name, or `redis-cluster://…` without NAME. */
const listUrl = /^(rediss?)-(sentinel|cluster):\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^/?]*))?(?:\?(.*))?$/;
const sentinelPort = 26_379;
const nodePort = 6_379;

type Refuse = (problem: string, options?: { readonly isPermanent: boolean }) => StartRefused;

/** @throws StartRefused if the form is unknown; the message omits the URL, which may contain a password */
export function parseRedisUrl(url: string, variable = 'REDIS_URL'): RedisAddress {
  const refuse: Refuse = (problem, options = { isPermanent: true }) =>
    new StartRefused(`${variable} ${problem}. ${formAdvice}.`, options);
  const [, scheme, kind, credentials = '', hosts = '', path = '', query = ''] = listUrl.exec(url) ?? [];
  if (scheme === undefined) return parseSingleUrl(url, refuse);
  const isCluster = kind === 'cluster';
  if (isCluster && path !== '' && path !== '0') throw refuse('names a database, but a cluster has only database 0');
  if (!isCluster && path === '') throw refuse('names no primary');
  const [username, ...passwordParts] = credentials.split(':');
  const password = passwordParts.join(':');
  const urls = hosts.split(',').map((host) => URL.parse(`redis://${host}`));
  if (urls.some((host) => host === null))
    throw refuse(`has a ${isCluster ? 'node' : 'sentinel'} that is not host:port`);
  const servers = urls.map((host) => ({
    host: (host as URL).hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number((host as URL).port) || (isCluster ? nodePort : sentinelPort),
  }));
  const tls = scheme === 'rediss' ? readTls(new URLSearchParams(query), refuse) : undefined;
  return {
    ...(isCluster ? { cluster: servers } : { sentinels: servers, name: decodeURIComponent(path) }),
    ...(username && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(tls !== undefined && { tls }),
    ...(tls !== undefined && !isCluster && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

function parseSingleUrl(url: string, refuse: Refuse): RedisAddress {
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'redis:' && parsed.protocol !== 'rediss:')) throw refuse('is not valid');
  const tls = parsed.protocol === 'rediss:' ? readTls(parsed.searchParams, refuse) : undefined;
  parsed.searchParams.delete('ca');
  return { url: parsed.href, ...(tls !== undefined && { tls }) };
}

function readTls(parameters: URLSearchParams, refuse: Refuse): Tls {
  const file = parameters.get('ca');
  if (file === null) return {};
  try {
    return { ca: readFileSync(file) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A missing file may appear later.
    throw refuse(`names a file ca=${file} that cannot be read (${code})`, { isPermanent: code !== 'ENOENT' });
  }
}
