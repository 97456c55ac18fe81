import type { UsageCounts, UsageFilter } from '#core/gateway/records/usage.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { TableCell } from '#core/web/pages/table.ts';

/** Usage of one group, with additional columns. */
export interface FiguredUsage {
  /** Id of the account, days of the plan, name of the model or route; null if there is none. */
  readonly key: string | null;
  readonly counts: UsageCounts;
  /** One for each title. */
  readonly cells: readonly Pick<TableCell, 'text' | 'kind'>[];
  /** Members for `--json`. */
  readonly json: object;
}

/** Additional columns of `daypass usage`. */
export interface UsageFigures {
  /** Empty without additional columns. */
  readonly titles: readonly string[];
  /** Explanation of the titles. */
  readonly legend: string;
  /** Members for `--json`, of the whole. */
  readonly json: object;
  /** All of them, also those that used nothing. */
  readonly groups: readonly FiguredUsage[];
}

/** One plugin knows the cost of usage, and its plan. */
export interface UsageFiguresReader {
  /** A sentence for the help of the command. */
  readonly help: string;
  /** Undefined without additional columns. */
  read(
    host: Pick<Host, 'database' | 'section' | 'now'>,
    filter: UsageFilter,
    by: 'account' | 'model' | 'route' | 'plan',
  ): Promise<UsageFigures | undefined>;
}
