import type { Host } from '#core/gateway/host/host.ts';
import type { UsageCounts, UsageFilter } from '#core/gateway/records/usage.ts';
import type { ShownField } from '#core/web/resources/field.ts';

/** Usage of one group, with its values for the additional columns. */
export interface FiguredUsage {
  /** Account id, number of days of the plan, or name of the model or route; null for usage without one. */
  readonly key: string | null;
  readonly counts: UsageCounts;
  /** Values for the additional columns. */
  readonly values: readonly number[];
  /** Additional members for the group in `--json`. */
  readonly json: object;
}

/** Additional columns of `daypass usage`. */
export interface UsageFigures {
  /** The columns; they read the `figures` of the group on each line. */
  readonly fields: readonly ShownField<{ readonly figures?: FiguredUsage | undefined }>[];
  /** Explains the columns, below the table. */
  readonly legend: string;
  /** Additional top-level members for `--json`. */
  readonly json: object;
  /** All groups, including those without usage. */
  readonly groups: readonly FiguredUsage[];
}

/** Adds cost columns to `daypass usage`, and the grouping by plan. Only one plugin can provide a reader. */
export interface UsageFiguresReader {
  /** Sentence for the help text of `daypass usage`. */
  readonly help: string;
  /** Reads the values for the additional columns; undefined if there are none. */
  read(
    host: Pick<Host, 'database' | 'section' | 'now'>,
    filter: UsageFilter,
    by: 'account' | 'model' | 'route' | 'plan',
  ): Promise<UsageFigures | undefined>;
}
