import type { Request } from '@hapi/hapi';

/** True for a caller on this machine, and not behind a proxy on it: routes and their faults are nobody else's business. */
export function isLocal({ info, headers }: Pick<Request, 'info' | 'headers'>): boolean {
  const isProxied = headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;
  return !isProxied && /^(127\.|::1$|::ffff:127\.)/.test(info.remoteAddress);
}
