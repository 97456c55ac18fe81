import type { Registry } from '#core/extension/registry.ts';
import { listPage } from '#core/web/resources/list-page.ts';
import { receipts, receiptsPath } from './resource.ts';

export const createReceiptsPage = (gateway: Pick<Registry, 'pages'>) =>
  listPage(gateway, receipts, {
    path: receiptsPath,
    title: 'operator.receipts',
    within: '/operator/orders',
    choices: ['waiting'],
    texts: 'operator.receipt_choice',
    choose: () => ({ waiting: true }),
    search: 'operator.receipts_search',
    none: ['operator.receipts_none', 'operator.receipts_none_more'],
  });
