import type { PageReader } from './page.ts';

/** What to print next to usage and money: `cost Rp 40.000`. */
export interface CostNotes {
  /** Shown next to usage. */
  readonly cost: string;
  /** Revenue less costs, shown in a column of its own. */
  readonly left: string;
}

/** What usage in a time range cost, for operator pages that show usage. */
export interface UsageCosts {
  readonly total: CostNotes;
  ofAccount(id: string): CostNotes;
  /** Returns what an account's requests to a model cost, as an amount. */
  ofModel(accountId: string, model: string | null): string;
  /** Returns what a route's requests cost, as an amount. `model` is a public name. */
  ofRoute(model: string, route: string): string;
}

/** Reads the costs; undefined if none are declared, or not available yet. Must respond quickly and must not reject. */
export type ReadUsageCosts = (reader: PageReader, span: 'today' | '7d' | '30d') => Promise<UsageCosts | undefined>;
