import { hash, randomBytes } from 'node:crypto';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { GatewayError } from '#core/platform/errors/table.ts';

const validitySeconds = 900; // covers the longest check and its preparation
const passPattern = /^Bearer (check_[\w-]{32})$/;

/** Lets one run of `daypass doctor --url` use the checks' paths on the public listener. */
interface Pass {
  readonly pass: string;
  readonly seconds: number; // lifetime
}

/** The digest is shared with all instances, because a call through the proxy may reach any of them. Throws SharedUnavailable. */
export async function issuePass({ shared }: Pick<Host, 'shared'>): Promise<Pass> {
  const pass = `check_${randomBytes(24).toString('base64url')}`;
  await shared.cache.set(createCacheKey(pass), Buffer.from('1'), validitySeconds);
  return { pass, seconds: validitySeconds };
}

/** Returns the pass's digest. Throws GatewayError `not_found`, as for a path that does not exist. */
export async function requirePass(
  { headers, path }: Pick<Exchange, 'headers' | 'path'>,
  { shared }: Pick<Host, 'shared'>,
): Promise<string> {
  const pass = passPattern.exec(headers.authorization ?? '')?.[1];
  if (pass === undefined || (await shared.cache.get(createCacheKey(pass))) === undefined)
    throw new GatewayError('not_found', `Path "${path}" not found. GET /v1/models lists the models.`);
  return hash('sha256', pass);
}

function createCacheKey(pass: string): string {
  return `public-check:${hash('sha256', pass)}`;
}
