import type { UsageCounts, UsageFilter } from '#core/gateway/records/usage.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { ShownField } from '#core/web/resources/field.ts';

/** Usage of one group, with additional columns. */
export interface FiguredUsage {
  /** Id of the account, days of the plan, name of the model or route; null if there is none. */
  readonly key: string | null;
  readonly counts: UsageCounts;
  /** Its values in the additional columns. */
  readonly values: readonly number[];
  /** Additional members of the group in `--json`. */
  readonly json: object;
}

/** Additional columns of `daypass usage`. */
export interface UsageFigures {
  /** Additional columns, of lines with the figures of their group; empty without any. */
  readonly fields: readonly ShownField<{ readonly figures?: FiguredUsage | undefined }>[];
  /** Legend of the columns. */
  readonly legend: string;
  /** Additional members of the whole output of `--json`. */
  readonly json: object;
  /** All groups, including those without usage. */
  readonly groups: readonly FiguredUsage[];
}

/** Reads the cost of usage and its plan; at most one plugin provides it. */
export interface UsageFiguresReader {
  /** Sentence in the help of the command. */
  readonly help: string;
  /** Undefined without additional columns. */
  read(
    host: Pick<Host, 'database' | 'section' | 'now'>,
    filter: UsageFilter,
    by: 'account' | 'model' | 'route' | 'plan',
  ): Promise<UsageFigures | undefined>;
}
