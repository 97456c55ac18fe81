import { type NewRow, type ResponseRows, sizeOf } from './rows.ts';

/** Share of its bound that an account may add between two measurements. */
const step = 1 / 64;
/** The most accounts whose additions are kept. */
const mostAccounts = 10_000;

/**
 * Keeps the stored responses of an account within its bound. Measuring reads the size of every row of the account, so
 * it is done once per added 64th of the bound, and makes as much room in advance. Each process on the same database may
 * add its own 64th.
 */
export class AccountQuota {
  /** Bytes saved since the last measurement, by account. An account without an entry must be measured. */
  readonly #added = new Map<string, number>();

  /** @param bound bytes that all rows of the account may have together */
  async save(rows: ResponseRows, row: NewRow, bound: number): Promise<void> {
    const { accountId } = row;
    const size = sizeOf(row);
    const spare = Math.floor(bound * step);
    const added = (this.#added.get(accountId) ?? Infinity) + size;
    if (added <= spare) {
      this.#added.set(accountId, added);
      return rows.save(row);
    }
    this.#added.delete(accountId);
    const isWithin = await rows.saveWithin(row, Math.max(0, bound - spare - size));
    if (!isWithin) return;
    if (this.#added.size >= mostAccounts) this.#added.clear();
    this.#added.set(accountId, 0);
  }
}
