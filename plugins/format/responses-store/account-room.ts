import { type NewRow, type ResponseRows, sizeOf } from './rows.ts';

/** Share of its bound that an account may add before its rows are measured again. */
const step = 1 / 64;
/** Accounts whose additions are known; more are measured again. */
const mostAccounts = 10_000;

/**
 * Keeps what is stored for one account within its bound. To measure is to read the size of every row of the account:
 * that is done once for each 64th of the bound that has come on, and as much room is made beforehand. Other processes
 * on the same database do the same; each of them may add its 64th.
 */
export class AccountRoom {
  /** Bytes that this process has saved since it last measured, by account. Those not in here have to be measured. */
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
