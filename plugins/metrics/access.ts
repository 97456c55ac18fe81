import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import { defineSection } from '#core/config/section.ts';
import { isLocal } from '#core/http/local-caller.ts';

export const metricsSection = defineSection({
  name: 'metrics',
  schema: {
    type: 'object',
    description: 'Access to GET /metrics.',
    default: {},
    properties: {
      token: {
        type: 'string',
        minLength: 16,
        description:
          'Bearer token required to read the metrics. Without a token, they are available from this machine only.',
      },
    },
    additionalProperties: false,
  },
});

/** True when the caller sends the token or, where none is configured, comes from this machine. */
export function mayRead(request: Pick<Request, 'info' | 'headers'>, token: string | undefined): boolean {
  if (token === undefined) return isLocal(request);
  const sent = /^Bearer +(\S+) *$/i.exec(String(request.headers['authorization']))?.[1];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}

/** `timingSafeEqual` requires equal lengths. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
