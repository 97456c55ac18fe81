import { readAccounts } from '#core/business/accounts/account-record.ts';
import type { NoticeSource } from '#core/web/pages/notices.ts';
import { ownPath } from './own-page.ts';

export const pauseNotice: NoticeSource = {
  name: 'data_requests',
  async show({ host, account, t, format }, _now, readers) {
    if (readers === 'all' || account === undefined) return [];
    const [{ pausedAt } = { pausedAt: undefined }] = await readAccounts(host.database, 'id', [account.id]);
    if (pausedAt === undefined) return [];
    return [
      {
        kind: 'warn',
        title: t('data_requests.paused_since', { day: format.day(pausedAt).text }),
        text: t('data_requests.paused_text'),
        action: { path: ownPath, label: t('data_requests.resume') },
        isOwn: true,
      },
    ];
  },
};
