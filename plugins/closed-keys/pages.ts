import { plainPage } from '#core/web/actions/plain-page.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import { retryAction } from './actions.ts';
import { closedKeys, closedKeysPath as path } from './resource.ts';

/** `/operator/closed-keys`: keys that vendors have closed; operators can have one tried again. */
export const closedKeysPage = tablesPage({
  path,
  title: 'closed-keys.title',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['closed-keys.none', 'closed-keys.none_text'],
  lead: 'closed-keys.advice',
  resource: closedKeys,
  record: 'closures',
});

/** `/operator/closed-keys/{id}/retry`: lets the next request try the key. */
export const retryPage = plainPage(retryAction, { path, label: 'closed-keys.title' });
