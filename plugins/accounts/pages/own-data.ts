import { exportOwnData } from '#core/business/accounts/own-data.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import { accountOf, Download, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { streamFile } from '#core/web/pages/stream-file.ts';

/** Downloads of one account: each reads all of its records. */
const limits = { limit: 6, period: 3600, burst: 3 };

/** What the service has about the account, as one JSON file. */
export const ownDataDownload: Page = {
  path: '/account/data.json',
  role: 'account',
  title: 'accounts.data.title',
  navigation: { label: 'accounts.data.download', icon: 'download', order: 80, place: 'menu' },
  async show(request) {
    await requireTurn(request);
    const { database, service, log } = request.host;
    const { id } = accountOf(request);
    const body = streamFile(log, `the data export of account ${id}`, exportOwnData(database, id));
    return new Download(`${service.slug}-account.json`, 'application/json', body);
  },
};

/** Without the shared state everyone may. */
async function requireTurn(request: PageRequest): Promise<void> {
  try {
    const { refusedBy } = await request.host.shared.limiter.take(`account-data:${accountOf(request).id}`, limits);
    if (refusedBy !== undefined) throw new PageError(429, 'accounts.data.too_many');
  } catch (error) {
    if (!(error instanceof SharedUnavailable)) throw error;
  }
}
