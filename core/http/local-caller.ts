import type { Request } from '@hapi/hapi';

/** True for a caller on this machine that is not a proxy: only the operator may see routes and their faults. */
export function isLocal({ info, headers }: Pick<Request, 'info' | 'headers'>): boolean {
  const isProxied = headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;
  return !isProxied && /^(127\.|::1$|::ffff:127\.)/.test(info.remoteAddress);
}
