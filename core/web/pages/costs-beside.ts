import type { PageRequest } from './page.ts';

/** Notes on figures of usage and money: `cost Rp 40.000`. */
export interface CostNotes {
  /** Shown next to usage. */
  readonly cost: string;
  /** Revenue less costs, shown in an additional column. */
  readonly left: string;
}

/** Cost of the usage in a time range, for operator pages that show usage. */
export interface CostsBeside {
  readonly total: CostNotes;
  ofAccount(id: string): CostNotes;
  /** Cost as an amount. */
  ofModel(accountId: string, model: string | null): string;
  /**
   * Cost as an amount.
   *
   * @param model public name
   */
  ofRoute(model: string, route: string): string;
}

/** Undefined if no cost is declared, or while it is not known. Takes a moment at most, and never rejects. */
export type ReadCostsBeside = (
  reader: Pick<PageRequest, 't' | 'format' | 'host'>,
  span: 'today' | '7d' | '30d',
) => Promise<CostsBeside | undefined>;
