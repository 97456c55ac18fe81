import type { Canary } from '../record/canaries.ts';
import type { CanaryCounts, CanarySide } from '../record/canary-counts.ts';
import { canaryReason } from '../record/canary-reason.ts';
import type { ActiveAccounts } from './share.ts';
import { totalFailure } from './total-failure.ts';
import { canEvaluate, minCounts } from './verdict.ts';

export function describeCanary(canary: Canary, isOver = canary.until.getTime() <= Date.now()): string {
  const { id, operator, until } = canary;
  const time = isOver ? `past its time, which ended at ${until.toISOString()}` : `until ${until.toISOString()}`;
  return `canary ${id} of ${operator} serves ${formatShare(canary)} of the accounts, ${time}: ${describeVerdict(canary, isOver)}`;
}

export function describeReach({ taken, active }: ActiveAccounts): string {
  const reach = `It takes ${taken} of ${active} active accounts.`;
  if (canEvaluate(taken, active)) return reach;
  if (taken >= totalFailure.accounts && active > taken)
    return `${reach} They are too few for a comparison: the canary is rolled back automatically only if all of its requests fail, and it serves all accounts only at your request.`;
  return `${reach} They are too few for a comparison: the canary continues until "daypass reload --full" or "daypass rollback".`;
}

export function describeEnd({ id, end }: Canary): string {
  const { outcome, reason } = end ?? { outcome: 'ended', reason: 'it is no longer on record' };
  if (outcome === 'full') return `canary ${id} now serves all accounts: ${reason}`;
  const result = outcome === 'worse' ? 'was worse and has been rolled back automatically' : 'has ended';
  return `canary ${id} ${result}: ${reason}`;
}

function formatShare({ share }: Pick<Canary, 'share'>): string {
  return `${Number((share * 100).toFixed(2))}%`;
}

function describeVerdict({ verdict, counts }: Canary, isOver: boolean): string {
  if (verdict === undefined || counts === undefined) return 'not compared yet';
  if (verdict === 'too_few')
    return `too few requests to tell (${counts.canary.requests} of ${counts.canary.accounts} accounts; ${minCounts.requests} of ${minCounts.accounts} are needed, and enough other accounts)`;
  if (verdict === 'no_worse') return 'no worse than the others';
  if (verdict === 'worse') return 'worse than the others';
  return isOver
    ? 'not yet shown to be no worse; it keeps its share until it is, or until "daypass reload --full" or "daypass rollback"'
    : 'no clear difference so far';
}

export function describeCounts({ canary, others }: CanaryCounts): string {
  return canaryReason('canary.reason.counts', { canary: describeSide(canary), others: describeSide(others) });
}

function describeSide({ requests, accounts, failures, refusals, firstTokenMs }: CanarySide): string {
  const counts = { failures, refusals, requests, accounts };
  if (firstTokenMs === undefined) return canaryReason('canary.reason.side', counts);
  return canaryReason('canary.reason.side_timed', { ...counts, ms: firstTokenMs });
}
