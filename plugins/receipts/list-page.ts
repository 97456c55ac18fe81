import { listPage } from '#core/web/resources/list-page.ts';
import { receipts, receiptsPath } from './resource.ts';

/** `/operator/receipts`: receipts by number, order or buyer. */
export const receiptsPage = {
  ...listPage(receipts, {
    path: receiptsPath,
    title: 'operator.receipts',
    navigation: { icon: 'receipt' },
    choices: ['waiting'],
    texts: 'operator.receipt_choice',
    choose: () => ({ waiting: true }),
    search: 'operator.receipts_search',
    none: ['operator.receipts_none', 'operator.receipts_none_more'],
    links: (t) => [{ path: '/operator/orders', label: t('operator.orders') }],
  }),
  navigation: [],
  within: '/operator/orders',
};
