import type { PageRequest } from './page.ts';

/** Notes for figures of use and of money that a page shows: `cost Rp 40.000`. */
export interface CostNotes {
  /** Beside use. */
  readonly cost: string;
  /** What revenue has left, beside money. */
  readonly left: string;
}

/** What the use of a span has cost, for operators' pages that show the use. */
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
