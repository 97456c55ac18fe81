import type { RateLimitState } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { AccountRecord } from './account-record.ts';

/** Limits on an account's model calls, and how much of each remains. Other requests (`other`) have separate limits. */
export interface AccountAllowance extends Omit<RateLimitState, 'other'> {
  readonly running: number; // requests in flight
}

/**
 * Reads an account's remaining limits without consuming any. Resolves to undefined if the account has no key or no limit applies.
 *
 * @param now current time by the database's clock, in epoch ms; determines which plan is active
 */
export type ReadAllowance = (host: Host, account: AccountRecord, now: number) => Promise<AccountAllowance | undefined>;
