import { bounds } from '#core/platform/bounds.ts';
import type { CallWindowOptions } from './call-window.ts';
import { SlidingSlices } from './sliding-slices.ts';

interface Tally {
  calls: number;
  failures: number;
}

interface AccountSummary {
  readonly accountCount: number;
  readonly failingAccounts: readonly string[];
  readonly failures: number; // of failing accounts only
}

/** Counts calls and failures per account over a sliding window, so that every account has the same weight. Times are ms. */
export class AccountWindow {
  readonly #slices: SlidingSlices<Map<string, Tally>>;

  /** @param options read on each call, because a reload changes them */
  constructor(options: CallWindowOptions) {
    this.#slices = new SlidingSlices(options, () => new Map<string, Tally>());
  }

  countCall(now: number, account: string, isFailure: boolean): void {
    const accounts = this.#slices.currentCounts(now);
    let tally = accounts.get(account);
    if (tally === undefined) {
      if (accounts.size >= bounds.countedAccounts) return;
      tally = { calls: 0, failures: 0 };
      accounts.set(account, tally);
    }
    tally.calls++;
    if (isFailure) tally.failures++;
  }

  /** @param ratio share of failed calls at which an account counts as failing */
  summarize(now: number, ratio: number): AccountSummary {
    const sums = new Map<string, Tally>();
    for (const accounts of this.#slices.listCounts(now))
      for (const [account, { calls, failures }] of accounts) {
        const sum = sums.get(account);
        if (sum === undefined) sums.set(account, { calls, failures });
        else {
          sum.calls += calls;
          sum.failures += failures;
        }
      }
    const failingAccounts = [...sums].filter(([, { calls, failures }]) => failures > 0 && failures >= ratio * calls);
    const failures = failingAccounts.reduce((sum, [, tally]) => sum + tally.failures, 0);
    return { accountCount: sums.size, failingAccounts: failingAccounts.map(([account]) => account), failures };
  }

  clear(): void {
    this.#slices.clear();
  }
}
