import type { PageRequest } from './page.ts';

/** Notes for figures of use and of money that a page shows: `cost Rp 40.000`. */
export interface CostNotes {
  /** Next to usage. */
  readonly cost: string;
  /** Revenue less costs, in an additional column. */
  readonly left: string;
}

/** Cost of the usage in a time range, for operator pages that show usage. */
export interface CostsBeside {
  readonly total: CostNotes;
  ofAccount(id: string): CostNotes;
  /** An amount. */
  ofModel(accountId: string, model: string | null): string;
  /** An amount. @param model by its public name */
  ofRoute(model: string, route: string): string;
}

/** Undefined where no cost is declared, and while it is not known. Takes a moment at most, and never rejects. */
export type ReadCostsBeside = (
  reader: Pick<PageRequest, 't' | 'format' | 'host'>,
  span: 'today' | '7d' | '30d',
) => Promise<CostsBeside | undefined>;
