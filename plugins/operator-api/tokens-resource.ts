import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, readPage } from '#core/web/resources/resource.ts';
import type { TokenRecord } from './tokens.ts';

export const apiTokens = defineResource({
  name: 'token',
  summary: 'list tokens, newest first',
  query: object({ after: createAfterSchema('token') }),
  view: defineView<TokenRecord>()({
    name: { type: 'text', of: 'name' },
    scope: { type: 'state', of: 'scope' },
    created: { type: 'time', of: 'createdAt' },
    expires: { type: 'time', of: 'expiresAt' },
    last_used: { type: 'time', of: 'lastUsedAt' },
    revoked: { type: 'time', of: 'revokedAt' },
  }),
  none: 'No token.',
  async list({ database }, { after }, { limit }) {
    const { listTokens } = await import('./tokens.ts');
    return readPage(limit, (max) => listTokens(database, max, after));
  },
});
