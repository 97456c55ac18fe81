import type { Host } from '#core/gateway/host/host.ts';
import type { UsageCounts, UsageFilter } from '#core/gateway/records/usage.ts';
import type { ShownField } from '#core/web/resources/field.ts';

/** Usage of one group, with the values of additional columns. */
export interface FiguredUsage {
  /** Account id, plan's days, or name of the model or route; null for usage without one. */
  readonly key: string | null;
  readonly counts: UsageCounts;
  /** Values of the additional columns. */
  readonly values: readonly number[];
  /** Additional members of the group in `--json`. */
  readonly json: object;
}

/** Additional columns of `daypass usage`. */
export interface UsageFigures {
  /** Additional columns; they read the `figures` of a line's group. */
  readonly fields: readonly ShownField<{ readonly figures?: FiguredUsage | undefined }>[];
  /** Legend of the columns. */
  readonly legend: string;
  /** Additional top-level members of the output of `--json`. */
  readonly json: object;
  /** All groups, including those without usage. */
  readonly groups: readonly FiguredUsage[];
}

/** Reads the cost of usage and the plan that it belongs to. At most one plugin provides a reader. */
export interface UsageFiguresReader {
  /** Sentence for the help of the command. */
  readonly help: string;
  /** Reads the additional columns; undefined if there are none. */
  read(
    host: Pick<Host, 'database' | 'section' | 'now'>,
    filter: UsageFilter,
    by: 'account' | 'model' | 'route' | 'plan',
  ): Promise<UsageFigures | undefined>;
}
