import { hash } from 'node:crypto';
import type { Canary } from '../record/canaries.ts';

/** How many accounts have a running pass or sent model calls in the last 7 days, and how many of them the canary serves. */
export interface ActiveAccounts {
  readonly taken: number;
  readonly active: number;
}

/** All instances choose the same accounts, and each canary chooses different ones. */
export function servesAccount({ salt, share }: Pick<Canary, 'salt' | 'share'>, accountId: string): boolean {
  return Number.parseInt(hash('sha256', `${salt} ${accountId}`).slice(0, 8), 16) < share * 2 ** 32;
}
