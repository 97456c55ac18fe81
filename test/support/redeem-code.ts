import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Database } from '#core/platform/database/database.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';

const vouchers = join(import.meta.dirname, '..', '..', 'plugins', 'vouchers', 'vouchers.ts');

/** Only the plugin's own tests import the plugin, because it can be deleted. */
interface Vouchers {
  redeemVoucher(
    host: { readonly database: Database; readonly shared: MemoryShared },
    accountId: string,
    code: string,
    address: string,
  ): Promise<{ readonly isNew: boolean }>;
}

/** Redeems without a limit on attempts, for tests outside the plugin. Returns true if this call added the days. */
export async function redeemCode(database: Database, accountId: string, code: string): Promise<boolean> {
  const { redeemVoucher } = (await import(pathToFileURL(vouchers).href)) as Vouchers;
  return (await redeemVoucher({ database, shared: new MemoryShared() }, accountId, code, '192.0.2.1')).isNew;
}
