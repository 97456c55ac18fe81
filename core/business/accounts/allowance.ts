import type { RateLimitState } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { AccountRecord } from './account-record.ts';

/** Limits of an account's model calls, and the remaining allowance. Other requests (`other`) have a separate allowance. */
export interface AccountAllowance extends Omit<RateLimitState, 'other'> {
  readonly running: number; // requests in flight
}

/**
 * Reads an account's allowance without consuming any of it. Resolves to undefined if the account has no key or no limit applies.
 *
 * @param now epoch ms of the database's clock, to find the active plan
 */
export type ReadAllowance = (host: Host, account: AccountRecord, now: number) => Promise<AccountAllowance | undefined>;
