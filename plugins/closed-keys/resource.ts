import { actionCell, defineView } from '#core/web/resources/field.ts';
import { defineResource, takeFirst } from '#core/web/resources/resource.ts';
import { retryAction } from './actions.ts';
import { type ClosedKey, listClosedKeys } from './closed-keys.ts';

export const closedKeysPath = '/operator/closed-keys';

export const closedKeys = defineResource({
  name: 'closure',
  summary: 'list upstream API keys that vendors have closed, oldest first',
  view: defineView<ClosedKey>('closed-keys')(
    {
      closure: { type: 'id', of: 'id' },
      upstream: { type: 'text', fit: 'id', at: 'title', of: 'upstream' },
      key: {
        type: 'text',
        at: 'note',
        value: ({ places }) => places.map(({ position, of }) => `${position} of ${of}`)[0],
        cell: ({ places }, { t }) =>
          places.map(({ upstream, ...place }) => t('closed-keys.place', { upstream, ...place })).join(', '),
      },
      part: { type: 'state', at: 'end', kinds: { key: 'bad', account: 'bad' }, of: 'part' },
      words: { type: 'text', fit: 'text', at: 'below', of: 'words' },
      closed: { type: 'time', at: 'note-end', value: ({ closedAt }) => new Date(closedAt) },
      retry: {
        type: 'time',
        at: 'hide',
        value: ({ retryAt }) => new Date(retryAt),
        cell: actionCell(retryAction, closedKeysPath, 'closed-keys.try'),
      },
    },
    ['closure', 'upstream', 'key', 'part', 'closed', 'retry', 'words'],
  ),
  none: 'No closed key.',
  perPage: Infinity,
  list: async (host, _query, { limit }) => takeFirst(await listClosedKeys(host), limit),
});
