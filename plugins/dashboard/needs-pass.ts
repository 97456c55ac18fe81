import { activePeriod, readAccounts } from '#core/business/accounts/account-record.ts';
import { configuredProvider } from '#core/business/payments/connections.ts';
import { accountOf, type PageRequest } from '#core/web/pages/page.ts';

/** True for an account that must buy days before it can call models. False where plans cannot be bought. */
export async function needsPass(request: PageRequest): Promise<boolean> {
  const { host } = request;
  if (configuredProvider(host) === undefined) return false;
  const [account] = await readAccounts(host.database, 'id', [accountOf(request).id]);
  return account !== undefined && activePeriod(account, account.readAt) === undefined;
}
