import type { RequestRecord } from '#core/gateway/records/columns.ts';

type RecordedAttempt = NonNullable<RequestRecord['attempts']>[number];

/** A recorded attempt, completed with facts inferred from its neighbours. Times are ms since the request arrived. */
export interface KnownAttempt {
  readonly position: number; // from 1, in the order of their start
  readonly route: string;
  readonly outcome: NonNullable<RecordedAttempt['outcome']>;
  readonly fault: RecordedAttempt['fault'] | undefined;
  readonly status: number | undefined;
  readonly error: string;
  readonly start: number;
  /** Time of the answer's first content, if it came from this attempt. */
  readonly first: number | undefined;
  readonly end: number;
}

/** Returns the recorded attempts; if there were more than eight, the earliest are missing. */
export function attemptsOf({ attempts, first_content_ms: first }: RequestRecord): KnownAttempt[] {
  const known = (attempts ?? []).map((attempt, index) => ({
    position: index + 1,
    route: attempt.route ?? '',
    outcome: attempt.outcome ?? 'failed',
    fault: attempt.fault ?? undefined,
    status: attempt.status ?? undefined,
    error: attempt.error ?? '',
    start: attempt.started_ms ?? 0,
    end: (attempt.started_ms ?? 0) + (attempt.duration_ms ?? 0),
  }));
  const source = first === null ? undefined : known.filter((attempt) => covers(attempt, first)).toSorted(byOutcome)[0];
  return known.map((attempt) => ({ ...attempt, first: attempt === source ? (first ?? undefined) : undefined }));
}

function covers({ start, end }: Pick<KnownAttempt, 'start' | 'end'>, time: number): boolean {
  return start <= time && time <= end;
}

/** Precedence among attempts that ran at the same time: the serving one, then one that was not aborted. */
const order: readonly KnownAttempt['outcome'][] = ['served', 'failed', 'aborted'];
function byOutcome(a: Pick<KnownAttempt, 'outcome'>, b: Pick<KnownAttempt, 'outcome'>): number {
  return order.indexOf(a.outcome) - order.indexOf(b.outcome);
}
