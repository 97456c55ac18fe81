import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import { defineSection } from '#core/config/section.ts';
import { isLocal } from '#core/http/local-caller.ts';

export const metricsSection = defineSection({
  name: 'metrics',
  schema: {
    type: 'object',
    description: 'Who may read GET /metrics.',
    default: {},
    properties: {
      token: {
        type: 'string',
        minLength: 16,
        description:
          'Whoever sends it as a bearer token may read the metrics, from anywhere, and nobody else. Without it only this machine may.',
      },
    },
    additionalProperties: false,
  },
});

/** True when this caller may see the metrics: by the token where there is one, otherwise by where it is. */
export function mayRead(request: Pick<Request, 'info' | 'headers'>, token: string | undefined): boolean {
  if (token === undefined) return isLocal(request);
  const sent = /^Bearer +(\S+) *$/i.exec(String(request.headers['authorization']))?.[1];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
