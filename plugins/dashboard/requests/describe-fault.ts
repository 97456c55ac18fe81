import type { RequestRecord } from '#core/gateway/records/columns.ts';
import type { Translate } from '#core/web/texts/texts.ts';
import type { CompletedAttempt } from './completed-attempt.ts';
import { translateIfKnown } from './describe-status.ts';

const statusWords: Readonly<Record<number, string>> = {
  500: 'internal',
  502: 'gateway',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

/** Omits the upstream's message, which may name the operator's vendors and accounts. */
export function describeFault(
  attempt: CompletedAttempt,
  attempts: readonly CompletedAttempt[],
  record: RequestRecord,
  t: Translate,
): string {
  const reason = describeReason(attempt, attempts, record, t);
  const reasonWithStatus = hasErrorStatus(attempt) ? `${attempt.status} ${reason}` : reason;
  if (attempt.fault === 'gone' || attempt.fault === 'client')
    return t('requests.attempt.plain', { status: reasonWithStatus });
  const when = attempt.first === undefined ? 'before_first' : 'after_first';
  return t(`requests.attempt.${when}`, { reason: reasonWithStatus });
}

function describeReason(
  attempt: CompletedAttempt,
  attempts: readonly CompletedAttempt[],
  record: RequestRecord,
  t: Translate,
): string {
  const { fault, outcome, status, error } = attempt;
  if (fault === 'gone' || outcome === 'aborted')
    return t(`requests.fault.${findStopReason(attempt, attempts, record)}`);
  if (fault !== 'route' && fault !== undefined)
    return translateIfKnown(`requests.fault.${fault}`, t) ?? t('requests.fault.status.other');
  if (status === undefined) return t(isTimeout(error) ? 'requests.fault.timeout' : 'requests.fault.connection');
  if (status < 400) return t(isTimeout(error) ? 'requests.fault.stalled' : 'requests.fault.broken');
  return t(`requests.fault.status.${statusWords[status] ?? 'other'}`);
}

function hasErrorStatus({ status, fault, outcome }: CompletedAttempt): boolean {
  return status !== undefined && status >= 400 && fault !== 'gone' && outcome !== 'aborted';
}

/** Matches the messages about timeouts in `plugins/upstream`; a test keeps both in step. */
export function isTimeout(error: string): boolean {
  return /The upstream (did not respond|sent nothing|sent no content)/.test(error);
}

function findStopReason(
  attempt: CompletedAttempt,
  attempts: readonly CompletedAttempt[],
  record: RequestRecord,
): 'faster' | 'left' | 'stopped' {
  if (attempts.some((other) => other !== attempt && other.outcome === 'served')) return 'faster';
  return record.outcome === 'aborted' ? 'left' : 'stopped';
}

export function describeConsequence(
  attempt: CompletedAttempt,
  attempts: readonly CompletedAttempt[],
  record: RequestRecord,
  t: Translate,
): string {
  if (attempt.outcome === 'aborted' || attempt.fault === 'gone') return '';
  const next = attempts.find(({ position }) => position === attempt.position + 1);
  if (next !== undefined) return t(`requests.next.${classifyNextAttempt(attempt, next)}`);
  if (attempts.some(({ outcome, end }) => outcome === 'served' && end >= attempt.end)) return '';
  if (attempt.fault === 'client') return t('requests.next.rejected');
  return record.outcome === 'failed' || record.outcome === 'refused' ? t('requests.next.none') : '';
}

function classifyNextAttempt(
  attempt: CompletedAttempt,
  next: CompletedAttempt,
): 'meanwhile' | 'again' | 'resumed' | 'route' {
  if (next.start < attempt.end) return 'meanwhile';
  if (next.route === attempt.route) return 'again';
  return attempt.first === undefined ? 'route' : 'resumed';
}
