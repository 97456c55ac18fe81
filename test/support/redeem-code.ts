import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Database } from '#core/platform/database/database.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';

const vouchers = join(import.meta.dirname, '..', '..', 'plugins', 'vouchers', 'vouchers.ts');

/** Of the plugin, which can be deleted: nothing outside of its tests imports it. */
interface Vouchers {
  redeemVoucher(
    host: { readonly database: Database; readonly shared: MemoryShared },
    accountId: string,
    code: string,
    address: string,
  ): Promise<{ readonly isNew: boolean }>;
}

/**
 * Redeems a code without a limit of attempts, in tests of other rooms.
 *
 * @returns whether this call has added the days
 * @throws VoucherError
 */
export async function redeemCode(database: Database, accountId: string, code: string): Promise<boolean> {
  const { redeemVoucher } = (await import(pathToFileURL(vouchers).href)) as Vouchers;
  return (await redeemVoucher({ database, shared: new MemoryShared() }, accountId, code, '192.0.2.1')).isNew;
}
