import type { PageReader } from './page.ts';

/** Texts next to usage and money, such as `cost Rp 40.000`. */
export interface CostNotes {
  /** Shown next to usage. */
  readonly cost: string;
  /** Revenue less costs, shown in a column of its own. */
  readonly left: string;
}

/** Costs of the usage in a time range, for operator pages. */
export interface UsageCosts {
  readonly total: CostNotes;
  ofAccount(id: string): CostNotes;
  /** Returns the cost of an account's requests to a model, as an amount. */
  ofModel(accountId: string, model: string | null): string;
  /** Returns the cost of a route's requests, as an amount. `model` is a public name. */
  ofRoute(model: string, route: string): string;
}

/** Reads the costs; undefined if none are declared, or not available yet. Must respond quickly and must not reject. */
export type ReadUsageCosts = (reader: PageReader, span: 'today' | '7d' | '30d') => Promise<UsageCosts | undefined>;
