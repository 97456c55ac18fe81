import { exportForOwner } from '#core/business/accounts/owner-export.ts';
import { takeRequest } from '#core/platform/shared/shared.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, Download, type Page } from '#core/web/pages/page.ts';
import { streamFile } from '#core/web/pages/stream-file.ts';

const downloadLimits = { limit: 6, period: 3600, burst: 3 }; // each download reads all of the account's records

export const ownDataDownload: Page = {
  path: '/account/data.json',
  role: 'account',
  title: 'accounts.data.title',
  navigation: { label: 'accounts.data.download', icon: 'download', order: 80, place: 'menu' },
  async show(request) {
    const { database, service, log, shared } = request.host;
    const { id } = accountOf(request);
    if ((await takeRequest(shared, `account-data:${id}`, downloadLimits)) !== undefined)
      throw new PageError(429, 'accounts.data.too_many');
    const body = streamFile(log, `the data export of account ${id}`, exportForOwner(database, id));
    return new Download(`${service.slug}-account.json`, 'application/json', body);
  },
};
