import type { PageReader } from './page.ts';

/** Notes on figures of usage and money: `cost Rp 40.000`. */
export interface CostNotes {
  /** Shown next to usage. */
  readonly cost: string;
  /** Revenue less costs, shown in an additional column. */
  readonly left: string;
}

/** Cost of the usage in a time range, for operator pages that show usage. */
export interface UsageCosts {
  readonly total: CostNotes;
  ofAccount(id: string): CostNotes;
  /** Returns the cost of an account's requests to a model, as an amount. */
  ofModel(accountId: string, model: string | null): string;
  /**
   * Returns the cost of a route's requests, as an amount.
   *
   * @param model public name
   */
  ofRoute(model: string, route: string): string;
}

/** Reads the costs; undefined if none are declared or available yet. Responds quickly and never rejects. */
export type ReadUsageCosts = (reader: PageReader, span: 'today' | '7d' | '30d') => Promise<UsageCosts | undefined>;
