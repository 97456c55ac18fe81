import { bounds } from '#core/platform/bounds.ts';
import { SlidingSlices } from './sliding-slices.ts';
import type { CallWindowOptions } from './call-window.ts';

interface Tally {
  calls: number;
  failures: number;
}

interface AccountShares {
  readonly all: number;
  readonly failing: readonly string[];
  readonly failures: number; // of failing accounts only
}

/** Calls and failures per account over a sliding window, so that each account counts once, however much it sends. Times are ms. */
export class AccountWindow {
  readonly #slices: SlidingSlices<Map<string, Tally>>;

  /** @param options read on each call, since a reload changes them */
  constructor(options: CallWindowOptions) {
    this.#slices = new SlidingSlices(options, () => new Map<string, Tally>());
  }

  count(now: number, account: string, isFailure: boolean): void {
    const accounts = this.#slices.current(now);
    let tally = accounts.get(account);
    if (tally === undefined) {
      if (accounts.size >= bounds.countedAccounts) return;
      tally = { calls: 0, failures: 0 };
      accounts.set(account, tally);
    }
    tally.calls++;
    if (isFailure) tally.failures++;
  }

  /** @param ratio share of failed calls from which an account counts as failing */
  counts(now: number, ratio: number): AccountShares {
    const sums = new Map<string, Tally>();
    for (const accounts of this.#slices.all(now))
      for (const [account, { calls, failures }] of accounts) {
        const sum = sums.get(account);
        if (sum === undefined) sums.set(account, { calls, failures });
        else {
          sum.calls += calls;
          sum.failures += failures;
        }
      }
    const failing = [...sums].filter(([, { calls, failures }]) => failures > 0 && failures >= ratio * calls);
    const failures = failing.reduce((sum, [, tally]) => sum + tally.failures, 0);
    return { all: sums.size, failing: failing.map(([account]) => account), failures };
  }

  clear(): void {
    this.#slices.clear();
  }
}
