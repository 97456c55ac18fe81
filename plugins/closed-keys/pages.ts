import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { plainPage } from '#core/web/actions/plain-page.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import { describeActionTable } from '#core/web/resources/action-table.ts';
import { fieldTable } from '#core/web/resources/field.ts';
import { retryAction } from './actions.ts';
import { listClosedKeys } from './closed-keys.ts';
import { closedKeys, closedKeysPath } from './resource.ts';

const maxListed = 50;

/** `/operator/closed-keys`: keys that vendors have closed, and how to try one again. */
export const closedKeysPage = tablesPage({
  path: closedKeysPath,
  title: 'closed-keys.title',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['closed-keys.none', 'closed-keys.none_text'],
  async read(request) {
    const { host, t } = request;
    const [keys, actions] = await Promise.all([
      listClosedKeys(host),
      listActions(host.database, { subject: 'closures', limit: maxListed }),
    ]);
    return {
      lead: t('closed-keys.advice'),
      sections: [
        fieldTable(request, 'closed-keys', 'closed-keys.title', keys.slice(0, maxListed), closedKeys.view.page),
        describeActionTable(actions, request),
      ],
    };
  },
});

/** `/operator/closed-keys/{id}/retry`: lets the next request try the key. */
export const retryPage = plainPage(retryAction, {
  path: `${closedKeysPath}/{id}`,
  async find({ host, params }) {
    const closedKey = (await listClosedKeys(host)).find(({ id }) => id === params['id']);
    const key = closedKey ?? notFound('closed-keys.unknown', { path: closedKeysPath, label: 'closed-keys.title' });
    return { id: key.id, name: key.upstream, path: closedKeysPath };
  },
});
