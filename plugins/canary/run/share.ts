import { hash } from 'node:crypto';
import type { Canary } from '../record/canaries.ts';

/** Those with a running pass, or model calls in the last 7 days, and how many of them are in a canary. */
export interface ActiveAccounts {
  readonly taken: number;
  readonly active: number;
}

/** True for the accounts that a canary serves: the same ones on all instances, and others at another canary. */
export function takesAccount({ salt, share }: Pick<Canary, 'salt' | 'share'>, accountId: string): boolean {
  return Number.parseInt(hash('sha256', `${salt} ${accountId}`).slice(0, 8), 16) < share * 2 ** 32;
}
