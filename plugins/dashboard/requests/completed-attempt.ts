import type { RequestRecord } from '#core/gateway/records/columns.ts';

type RecordedAttempt = NonNullable<RequestRecord['attempts']>[number];

/** A recorded attempt, completed with facts inferred from the other attempts. Times are ms since the request arrived. */
export interface CompletedAttempt {
  readonly position: number; // from 1, in the order of start times
  readonly route: string;
  readonly outcome: NonNullable<RecordedAttempt['outcome']>;
  readonly fault: RecordedAttempt['fault'] | undefined;
  readonly status: number | undefined;
  readonly error: string;
  readonly start: number;
  readonly first: number | undefined; // when the first content arrived, if it came from this attempt
  readonly end: number;
}

/** If there were more than eight attempts, the earliest are missing. */
export function readAttempts({ attempts, first_content_ms: first }: RequestRecord): CompletedAttempt[] {
  const completed = (attempts ?? []).map((attempt, index) => ({
    position: index + 1,
    route: attempt.route ?? '',
    outcome: attempt.outcome ?? 'failed',
    fault: attempt.fault ?? undefined,
    status: attempt.status ?? undefined,
    error: attempt.error ?? '',
    start: attempt.started_ms ?? 0,
    end: (attempt.started_ms ?? 0) + (attempt.duration_ms ?? 0),
  }));
  const firstContentAttempt =
    first === null
      ? undefined
      : completed.filter((attempt) => includesTime(attempt, first)).toSorted(compareOutcomes)[0];
  return completed.map((attempt) => ({
    ...attempt,
    first: attempt === firstContentAttempt ? (first ?? undefined) : undefined,
  }));
}

function includesTime({ start, end }: Pick<CompletedAttempt, 'start' | 'end'>, time: number): boolean {
  return start <= time && time <= end;
}

/** If several attempts were running, the first content is attributed to the one whose outcome comes first here. */
const outcomeOrder: readonly CompletedAttempt['outcome'][] = ['served', 'failed', 'aborted'];
function compareOutcomes(a: Pick<CompletedAttempt, 'outcome'>, b: Pick<CompletedAttempt, 'outcome'>): number {
  return outcomeOrder.indexOf(a.outcome) - outcomeOrder.indexOf(b.outcome);
}
