import { plainPage } from '#core/web/actions/plain-page.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import { retryAction } from './actions.ts';
import { closedKeys, closedKeysPath as path } from './resource.ts';

export const closedKeysPage = tablesPage({
  path,
  title: 'closed-keys.title',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['closed-keys.none', 'closed-keys.none_text'],
  lead: 'closed-keys.advice',
  resource: closedKeys,
  record: 'closures',
});

export const retryPage = plainPage(retryAction, { path, label: 'closed-keys.title' });
