import type { RateLimitState } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { AccountRecord } from './account-record.ts';

/** The limits of an account's model calls, and what is left of them. */
export interface AccountAllowance extends Omit<RateLimitState, 'other'> {
  readonly running: number; // requests in flight
}

/**
 * Reads an account's allowance without using it. Resolves to undefined for an account without a key, and if no limit applies.
 *
 * @param now epoch ms of the database's clock, to find the active plan
 */
export type ReadAllowance = (host: Host, account: AccountRecord, now: number) => Promise<AccountAllowance | undefined>;
