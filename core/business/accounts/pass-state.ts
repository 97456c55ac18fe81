import { type AccountRecord, findActivePeriod, type PeriodRecord } from './account-record.ts';

/** An account's entitlement: the active period including any adjacent ones, otherwise the next period, otherwise the last one. */
export interface PassState extends Partial<PeriodRecord> {
  readonly kind: 'active' | 'starts_later' | 'ended' | 'none';
}

/** @param now epoch ms of the database's clock */
export function determinePass(account: Pick<AccountRecord, 'periods'>, now: number): PassState {
  const active = findActivePeriod(account, now);
  if (active !== undefined) return { kind: 'active', ...active };
  const next = account.periods.find(({ startsAt }) => startsAt.getTime() > now);
  if (next !== undefined) return { kind: 'starts_later', ...next };
  const last = account.periods.at(-1);
  return last === undefined ? { kind: 'none' } : { kind: 'ended', ...last };
}

/** Formats a pass for commands, such as `3 days, active until 2026-12-08T00:00:00.000Z`. */
export function formatPass({ kind, label, startsAt, endsAt }: PassState, formatTime: (time: Date) => string): string {
  if (startsAt === undefined || endsAt === undefined) return 'none yet';
  if (kind === 'active') return `${label}, active until ${formatTime(endsAt)}`;
  return kind === 'ended'
    ? `ended at ${formatTime(endsAt)}`
    : `starts at ${formatTime(startsAt)}, ends at ${formatTime(endsAt)}`;
}
